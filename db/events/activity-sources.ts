import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { ACTIVITY_EVENTS, type ActivityType } from '../../rules/events/activity.ts';

export interface ActivityFilter {
  projectId: string;
  types?: readonly ActivityType[] | undefined;
  contactId?: string | undefined;
  startDate?: Date | undefined;
  endDate?: Date | undefined;
}

/**
 * The position in the feed after which a page starts. The page has earlier items, and the items at this instant: all of
 * them if `key` is null, otherwise those with a smaller key.
 */
export interface ActivityPosition {
  at: Date;
  key: string | null;
}

/** One kind of row in the feed. */
export interface ActivitySource {
  types: readonly ActivityType[];
  shape(p: ActivityFilter, position: ActivityPosition): Shape;
}

type Sql = RawBuilder<unknown>;

interface Shape {
  /** SQL expression for the instant of an item, truncated to milliseconds. */
  at: Sql;
  id: Sql;
  type: Sql;
  contactId: Sql;
  metadata: Sql;
  from: Sql;
  /**
   * SQL condition on an indexed column that includes all rows which the position allows. `activityRowsSql` then
   * compares the exact position.
   */
  range: Sql;
  order: Sql;
}

/**
 * Selects type, at, id, key, contact_id and metadata of one kind of row, newest first, in the order of an index. The
 * caller adds a LIMIT.
 */
export function selectActivityItems(source: ActivitySource, p: ActivityFilter, position: ActivityPosition): Sql {
  const s = source.shape(p, position);
  return sql`
    SELECT ${s.type} AS type, ${s.at} AS at, ${s.id}::text AS id, ${sortKeySql(s)} AS key, ${s.contactId} AS contact_id,
      ${s.metadata} AS metadata
    ${activityRowsSql(s, p, position)} ORDER BY ${s.order}`;
}

/** Selects one row per item without its columns, for counting. */
export function selectActivityItemsToCount(source: ActivitySource, p: ActivityFilter, position: ActivityPosition): Sql {
  return sql`SELECT 1 ${activityRowsSql(source.shape(p, position), p, position)}`;
}

function activityRowsSql(s: Shape, p: ActivityFilter, position: ActivityPosition): Sql {
  const until =
    position.key === null
      ? sql<SqlBool>`${s.at} <= ${position.at}`
      : sql<SqlBool>`(${s.at} < ${position.at} OR (${s.at} = ${position.at} AND ${sortKeySql(s)} < ${position.key}))`;
  return sql`
    FROM ${s.from} WHERE ${s.range} AND ${until} ${p.contactId ? sql`AND ${s.contactId} = ${p.contactId}` : sql``}
      ${p.types ? sql`AND ${s.type} = ANY(${[...p.types]}::text[])` : sql``}`;
}

const sortKeySql = (s: Shape): Sql => sql`(${s.type} || ':' || ${s.id}::text)`;

const truncateToMillis = (instant: Sql): Sql => sql`date_trunc('milliseconds', ${instant})`;
const sqlText = (type: ActivityType): Sql => sql`${type}::text`;
const NO_CONTACT = sql`NULL::uuid`;

/**
 * Returns the condition that an id is in the time range. An id starts with its time in milliseconds, so the order of
 * ids is the order of time, and no index on the instant is needed.
 */
function idRangePredicate(p: ActivityFilter, column: Sql, position: ActivityPosition): Sql {
  return sql`${column} <= ${uuidBoundAt(position.at, 'f')}::uuid AND ${column} >= ${uuidBoundAt(p.startDate ?? new Date(0), '0')}::uuid`;
}

/**
 * Returns the condition that an instant is in the time range. Includes all instants within the position's millisecond.
 */
function instantRangePredicate(p: ActivityFilter, column: Sql, position: ActivityPosition): Sql {
  return sql`${column} < ${new Date(position.at.getTime() + 1)} AND ${column} >= ${p.startDate ?? new Date(0)}`;
}

const events: ActivitySource = {
  types: [...new Set<ActivityType>([...Object.values(ACTIVITY_EVENTS), 'event.triggered'])],
  shape: (p, position) => ({
    at: truncateToMillis(sql`uuid_extract_timestamp(e.id)`),
    id: sql`e.id`,
    type: eventTypeSql(),
    contactId: sql`e.contact_id`,
    metadata: sql`jsonb_build_object('eventName', e.name, 'emailId', e.email_id, 'data', coalesce(e.data, '{}'))`,
    from: sql`events e`,
    range: sql`e.project_id = ${p.projectId} AND ${idRangePredicate(p, sql`e.id`, position)}`,
    order: sql`e.id DESC`,
  }),
};

const started: ActivitySource = {
  types: ['workflow.started'],
  shape: (p, position) => ({
    ...executionShape('workflow.started'),
    at: truncateToMillis(sql`uuid_extract_timestamp(x.id)`),
    range: sql`x.project_id = ${p.projectId} AND NOT x.sandbox AND ${idRangePredicate(p, sql`x.id`, position)}`,
    order: sql`x.id DESC`,
  }),
};

const completed: ActivitySource = {
  types: ['workflow.completed'],
  shape: (p, position) => ({
    ...executionShape('workflow.completed'),
    at: truncateToMillis(sql`x.completed_at`),
    range: sql`x.project_id = ${p.projectId} AND NOT x.sandbox AND ${instantRangePredicate(p, sql`x.completed_at`, position)}`,
    order: sql`${truncateToMillis(sql`x.completed_at`)} DESC, x.id DESC`,
  }),
};

function executionShape(type: ActivityType): Pick<Shape, 'id' | 'type' | 'contactId' | 'metadata' | 'from'> {
  return {
    id: sql`x.id`,
    type: sqlText(type),
    contactId: sql`x.contact_id`,
    metadata: sql`jsonb_build_object('workflowId', x.workflow_id, 'workflowName', w.name, 'executionId', x.id,
      'status', x.status, 'exitReason', x.exit_reason)`,
    from: sql`executions x JOIN workflows w ON w.id = x.workflow_id`,
  };
}

function smsSource(type: ActivityType, instant: 'sent_at' | 'delivered_at' | 'created_at'): ActivitySource {
  const at = sql`${sql.ref(`s.${instant}`)}`;
  const which = type === 'sms.failed' ? sql`AND s.status IN ('FAILED', 'UNDELIVERED')` : sql``;
  return {
    types: [type],
    shape: (p, position) => ({
      at: truncateToMillis(at),
      id: sql`s.id`,
      type: sqlText(type),
      contactId: sql`s.contact_id`,
      metadata: sql`jsonb_build_object('smsId', s.id, 'to', s.to_phone, 'status', s.status, 'segments', s.segments)`,
      from: sql`sms_messages s`,
      range: sql`s.project_id = ${p.projectId} AND NOT s.sandbox AND ${instantRangePredicate(p, at, position)} ${which}`,
      order: sql`${truncateToMillis(at)} DESC, s.id DESC`,
    }),
  };
}

/**
 * Selects campaigns. The time of the item `campaign.scheduled` is the last change of the campaign, but at the latest
 * its scheduled time. No column has the time when the user scheduled the campaign.
 */
function campaignSource(type: 'campaign.scheduled' | 'campaign.sent'): ActivitySource {
  // least() ignores NULL, so campaigns without a scheduled time have to be excluded.
  const [at, which] =
    type === 'campaign.sent'
      ? [sql`g.sent_at`, sql``]
      : [sql`least(g.updated_at, g.scheduled_at)`, sql`AND g.scheduled_at IS NOT NULL`];
  return {
    types: [type],
    shape: (p, position) => ({
      at: truncateToMillis(at),
      id: sql`g.id`,
      type: sqlText(type),
      contactId: NO_CONTACT,
      metadata: sql`jsonb_build_object('campaignId', g.id, 'name', g.name, 'subject', g.subject, 'scheduledAt', g.scheduled_at)`,
      from: sql`campaigns g`,
      range: sql`g.project_id = ${p.projectId} AND ${instantRangePredicate(p, at, position)} ${which}`,
      order: sql`${truncateToMillis(at)} DESC, g.id DESC`,
    }),
  };
}

const keyRotations: ActivitySource = {
  types: ['apikey.rotated'],
  shape: (p, position) => ({
    at: truncateToMillis(sql`a.created_at`),
    id: sql`a.id`,
    type: sqlText('apikey.rotated'),
    contactId: NO_CONTACT,
    metadata: sql`jsonb_build_object('actor', a.actor)`,
    from: sql`audit_log a`,
    range: sql`a.project_id = ${p.projectId} AND a.action = 'apikey.rotated' AND ${instantRangePredicate(p, sql`a.created_at`, position)}`,
    order: sql`${truncateToMillis(sql`a.created_at`)} DESC, a.id DESC`,
  }),
};

export const ACTIVITY_SOURCES: readonly ActivitySource[] = [
  events,
  started,
  completed,
  smsSource('sms.sent', 'sent_at'),
  smsSource('sms.delivered', 'delivered_at'),
  smsSource('sms.failed', 'created_at'),
  campaignSource('campaign.scheduled'),
  campaignSource('campaign.sent'),
  keyRotations,
];

function eventTypeSql(): Sql {
  const cases = Object.entries(ACTIVITY_EVENTS).map(([name, type]) => sql`WHEN ${sql.lit(name)} THEN ${sql.lit(type)}`);
  return sql`CASE e.name ${sql.join(cases, sql` `)} ELSE 'event.triggered' END`;
}

/** Returns a lower (`0`) or upper (`f`) bound of the UUIDv7s of a millisecond. */
export function uuidBoundAt(at: Date, fill: '0' | 'f'): string {
  const hex = Math.max(0, at.getTime()).toString(16).padStart(12, '0').slice(-12);
  return `${hex.slice(0, 8)}-${hex.slice(8)}-${fill.repeat(4)}-${fill.repeat(4)}-${fill.repeat(12)}`;
}
