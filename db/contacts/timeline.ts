import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { createCursorError, decodeCursor } from '../../rules/cursor.ts';
import { ACTIVITY_EVENTS } from '../../rules/events/activity.ts';
import { UNSUBSCRIBE_REQUESTED_EVENT } from '../../rules/events/event-names.ts';
import type { Db } from '../connection.ts';
import { uuidBoundAt } from '../events/activity-sources.ts';
import { FAR_FUTURE } from '../id-time.ts';
import { toKeyedPage } from '../keyset.ts';

/** Types of items in a contact's timeline that the project's activity feed does not have. */
export const TIMELINE_ONLY_TYPES = ['email.failed', 'workflow.step'] as const;

export interface TimelineItem {
  id: string;
  type: string;
  timestamp: Date;
  metadata: Record<string, unknown>;
}

export interface TimelinePage {
  items: TimelineItem[];
  cursor: string | null;
  hasMore: boolean;
  /** Counted only on the first page, up to TIMELINE_TOTAL_MAX; otherwise 0. */
  total: number;
}

/** Counting stops at this number, because no one reads more pages. */
export const TIMELINE_TOTAL_MAX = 10_000;

type Sql = RawBuilder<unknown>;

/**
 * The position of the last item of the previous page. The next page has items at this instant with a smaller key, and
 * all earlier items.
 */
interface Position {
  at: Date;
  key: string;
}

interface TimelineRequest {
  projectId: string;
  contactId: string;
  position: Position | undefined;
}

/** One kind of row in the timeline. The key of a row is unique within a millisecond. */
interface Source {
  type: Sql;
  at: Sql;
  key: Sql;
  metadata: Sql;
  from: Sql;
  where: Sql;
  /** The order by `at` and key, in the form that an index provides; undefined if no index provides the order. */
  order?: Sql;
}

/**
 * Lists the history of a contact, newest first: events (including events of emails, and subscription changes with their
 * actor), SMS, unsent emails with the reason, and executions with their steps. Selects at most one page of each kind of
 * row, and merges these pages. Events and emails are read in the order of an index; executions, steps and SMS of the
 * contact are sorted. The position in the list is the instant in milliseconds and then the key, so that no item is
 * repeated or skipped.
 * @throws AppError BAD_REQUEST for an invalid cursor
 */
export async function listTimeline(
  db: Db,
  p: { projectId: string; contactId: string; limit: number; cursor?: string | undefined },
): Promise<TimelinePage> {
  const request: TimelineRequest = {
    projectId: p.projectId,
    contactId: p.contactId,
    position: decodePosition(p.cursor),
  };
  const sources = listSources(request);
  const parts = sources.map((source) => sql`(${selectTimelineItems(source, request.position)} LIMIT ${p.limit + 1})`);
  const { rows } = await sql<TimelineItem & { key: string }>`
    SELECT u.key, u.type || ':' || u.key AS id, u.type, u.at AS timestamp, u.metadata
    FROM (${sql.join(parts, sql` UNION ALL `)}) u ORDER BY u.at DESC, u.key COLLATE "C" DESC LIMIT ${p.limit + 1}
  `.execute(db);
  const total = request.position ? 0 : await countItems(db, sources);
  const page = toKeyedPage(rows, {
    limit: p.limit,
    keyOf: ({ timestamp, key }) => [timestamp.getTime(), key],
    map: ({ key: _, ...item }) => item,
  });
  return { ...page, total };
}

async function countItems(db: Db, sources: Source[]): Promise<number> {
  const parts = sources.map(
    ({ from, where }) => sql`(SELECT 1 FROM ${from} WHERE ${where} LIMIT ${TIMELINE_TOTAL_MAX})`,
  );
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (SELECT FROM (${sql.join(parts, sql` UNION ALL `)}) u LIMIT ${TIMELINE_TOTAL_MAX}) v
  `.execute(db);
  return rows[0]?.count ?? 0;
}

function selectTimelineItems(
  { type, at, key, metadata, from, where, order }: Source,
  position: Position | undefined,
): Sql {
  const before = position
    ? sql<SqlBool>`(${at} < ${position.at} OR (${at} = ${position.at} AND (${key}) COLLATE "C" < ${position.key}))`
    : sql<SqlBool>`true`;
  return sql`
    SELECT ${type} AS type, ${at} AS at, ${key} AS key, ${metadata} AS metadata FROM ${from}
    WHERE ${where} AND ${before} ORDER BY ${order ?? sql`${at} DESC, (${key}) COLLATE "C" DESC`}`;
}

function decodePosition(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined;
  const [at, key] = decodeCursor(cursor, 2);
  if (typeof at !== 'number' || !(at >= 0 && at <= FAR_FUTURE.getTime())) throw createCursorError();
  if (typeof key !== 'string' || !/^[0-9a-f-]{36}(:[a-z0-9]{1,10})?$/.test(key)) throw createCursorError();
  return { at: new Date(at), key };
}

/** SQL for the cause of an email `m`: the ids and names of its campaign and workflow. */
const CAUSE = sql`jsonb_build_object('campaignId', m.campaign_id, 'campaignName', mc.name, 'executionId', m.execution_id,
  'workflowId', mw.id, 'workflowName', mw.name)`;
const CAUSES = sql`LEFT JOIN campaigns mc ON mc.id = m.campaign_id LEFT JOIN executions mx ON mx.id = m.execution_id
  LEFT JOIN workflows mw ON mw.id = mx.workflow_id`;

const truncateToMillis = (instant: Sql): Sql => sql`date_trunc('milliseconds', ${instant})`;
const sqlText = (value: string): Sql => sql`${value}::text`;

function listSources(request: TimelineRequest): Source[] {
  return [
    eventSource(request),
    failedEmailSource(request),
    executionSource(request, 'started'),
    executionSource(request, 'completed'),
    stepSource(request),
    smsSource(request, 'sms.sent', 'sent_at'),
    smsSource(request, 'sms.delivered', 'delivered_at'),
    smsSource(request, 'sms.failed', 'created_at'),
  ];
}

/**
 * Reads events by the index on contact and id, whose order is the order of time. The item of an email event has the
 * email's subject; the item of a subscription change has the actor and the reason.
 */
function eventSource({ projectId, contactId, position }: TimelineRequest): Source {
  const cases = Object.entries(ACTIVITY_EVENTS).map(([name, type]) => sql`WHEN ${sql.lit(name)} THEN ${sql.lit(type)}`);
  const until = uuidBoundAt(position?.at ?? FAR_FUTURE, 'f');
  return {
    type: sql`CASE e.name ${sql.join(cases, sql` `)} ELSE 'event.triggered' END`,
    at: truncateToMillis(sql`uuid_extract_timestamp(e.id)`),
    key: sql`e.id::text`,
    metadata: sql`
      jsonb_build_object('eventName', e.name, 'emailId', e.email_id, 'data', coalesce(e.data, '{}'))
      || CASE WHEN e.email_id IS NULL THEN '{}' ELSE coalesce((
        SELECT jsonb_build_object('subject', coalesce(e.data->>'subject', k.subject), 'sourceType', m.source_type) || ${CAUSE}
        FROM emails m JOIN contents k ON k.id = m.content_id ${CAUSES} WHERE m.id = e.email_id AND m.project_id = ${projectId}), '{}') END
      || CASE WHEN e.name IN ('contact.subscribed', 'contact.unsubscribed')
        THEN jsonb_build_object('actor', e.actor, 'reason', coalesce(e.data->>'reason', ${subscriptionChangeReasonSql()})) ELSE '{}' END
      || CASE WHEN e.name = ${UNSUBSCRIBE_REQUESTED_EVENT}
        THEN jsonb_build_object('actor', e.actor, 'apply', jsonb_build_object('method', 'PATCH',
          'path', '/contacts/' || e.contact_id, 'body', jsonb_build_object('subscribed', false))) ELSE '{}' END`,
    from: sql`events e`,
    where: sql`e.project_id = ${projectId} AND e.contact_id = ${contactId} AND e.id <= ${until}::uuid`,
    order: sql`e.id DESC`,
  };
}

/**
 * Returns SQL for the reason of a subscription change. Used if the event `e` has no reason in its data; derives the
 * reason from `resubscribed` in the data, or from the actor.
 */
export function subscriptionChangeReasonSql(): Sql {
  return sql`CASE
    WHEN e.data->>'resubscribed' = 'true' THEN 'resubscribed'
    WHEN e.actor = 'contact' THEN 'own_choice' WHEN e.actor = 'public' THEN 'public_key'
    WHEN e.actor LIKE 'job:%' THEN 'job' WHEN e.actor LIKE 'execution:%' THEN 'workflow'
    WHEN e.actor LIKE 'key:%' OR e.actor LIKE 'user:%' THEN 'request' END`;
}

/** Selects emails that were not sent. An email that was not sent has no event. */
function failedEmailSource({ projectId, contactId, position }: TimelineRequest): Source {
  const until = uuidBoundAt(position?.at ?? FAR_FUTURE, 'f');
  return {
    type: sqlText('email.failed'),
    at: truncateToMillis(sql`uuid_extract_timestamp(m.id)`),
    key: sql`m.id::text`,
    metadata: sql`jsonb_build_object('emailId', m.id, 'subject', k.subject, 'reason', m.reason, 'error', m.error,
      'sourceType', m.source_type) || ${CAUSE}`,
    from: sql`emails m JOIN contents k ON k.id = m.content_id ${CAUSES}`,
    where: sql`m.project_id = ${projectId} AND m.contact_id = ${contactId} AND m.status = 'FAILED'
      AND m.options->'sandbox' IS NULL AND m.id <= ${until}::uuid`,
    order: sql`m.id DESC`,
  };
}

function executionSource({ projectId, contactId }: TimelineRequest, which: 'started' | 'completed'): Source {
  const at = sql`${sql.ref(`x.${which}_at`)}`;
  return {
    type: sqlText(`workflow.${which}`),
    at: truncateToMillis(at),
    key: sql`x.id::text || ${`:${which}`}::text`,
    metadata: sql`jsonb_build_object('workflowId', x.workflow_id, 'workflowName', w.name, 'executionId', x.id,
      'status', x.status, 'exitReason', x.exit_reason, 'error', x.error)`,
    from: sql`executions x JOIN workflows w ON w.id = x.workflow_id`,
    where: sql`x.project_id = ${projectId} AND x.contact_id = ${contactId} AND NOT x.sandbox AND ${at} IS NOT NULL`,
  };
}

function stepSource({ projectId, contactId }: TimelineRequest): Source {
  return {
    type: sqlText('workflow.step'),
    at: truncateToMillis(sql`s.started_at`),
    key: sql`s.execution_id::text || ':' || s.visit`,
    metadata: sql`jsonb_build_object('executionId', x.id, 'workflowId', x.workflow_id, 'workflowName', w.name, 'stepId', s.step_id,
      'stepName', t.name, 'stepType', s.type, 'status', s.status, 'error', s.error, 'dueAt', s.due_at, 'completedAt', s.completed_at)`,
    from: sql`executions x JOIN execution_steps s ON s.execution_id = x.id JOIN workflows w ON w.id = x.workflow_id
      LEFT JOIN workflow_steps t ON t.id = s.step_id`,
    where: sql`x.project_id = ${projectId} AND x.contact_id = ${contactId} AND NOT x.sandbox`,
  };
}

function smsSource(
  { projectId, contactId }: TimelineRequest,
  type: string,
  instant: 'sent_at' | 'delivered_at' | 'created_at',
): Source {
  const at = sql`${sql.ref(`s.${instant}`)}`;
  const which = instant === 'created_at' ? sql`AND s.status IN ('FAILED', 'UNDELIVERED')` : sql``;
  return {
    type: sqlText(type),
    at: truncateToMillis(at),
    key: sql`s.id::text || ${`:${type.slice('sms.'.length)}`}::text`,
    metadata: sql`jsonb_build_object('smsId', s.id, 'to', s.to_phone, 'status', s.status, 'segments', s.segments)`,
    from: sql`sms_messages s`,
    where: sql`s.project_id = ${projectId} AND s.contact_id = ${contactId} AND NOT s.sandbox AND ${at} IS NOT NULL ${which}`,
  };
}
