import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { AppError } from '../../rules/errors.ts';
import { isSystemEvent } from '../../rules/events/event-names.ts';
import type { NotStarted } from '../../rules/events/not-started.ts';
import type { StepConfig } from '../../rules/executions/steps/definition.ts';
import { STEP_TYPES, STEPS, type StepType } from '../../rules/executions/steps/registry.ts';
import { parseCondition } from '../../rules/filters/filters.ts';
import { groupBy } from '../../rules/filters/group-by.ts';
import { hasReference } from '../../rules/filters/references.ts';
import type { Db } from '../connection.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import { countResponseBytes } from '../page-budget.ts';

export interface EventRecord {
  id: string;
  name: string;
  contactId: string | null;
  emailId: string | null;
  /**
   * Null on `email.sent` of a campaign. The payload of such an event is derived from the email when the event is read.
   */
  data: Record<string, unknown> | null;
  notStarted: NotStarted[];
  createdAt: Date;
}

const COLUMNS = sql.raw(
  `id, name, contact_id AS "contactId", email_id AS "emailId", data, coalesce(not_started, '[]') AS "notStarted",
   created_at AS "createdAt"`,
);

export interface EventFilter {
  projectId: string;
  eventName?: string | undefined;
  contactId?: string | undefined;
}

/** Lists events newest first. */
export async function listEvents(db: Db, p: PageRequest & EventFilter): Promise<Page<EventRecord>> {
  const parts = [
    sql<SqlBool>`project_id = ${p.projectId}`,
    p.eventName === undefined ? undefined : sql<SqlBool>`name = ${p.eventName}`,
    p.contactId === undefined ? undefined : sql<SqlBool>`contact_id = ${p.contactId}`,
    afterCursorSql(p.cursor),
  ].filter((part) => part !== undefined);
  const { rows } = await sql<EventRecord>`
    SELECT ${COLUMNS} FROM events WHERE ${sql.join(parts, sql` AND `)} ORDER BY id DESC LIMIT ${p.limit + 1}
  `.execute(db);
  // The response contains the rows twice, as `events` and as `data`.
  return toPage(
    rows,
    p.limit,
    (row) => row,
    (row) => countResponseBytes(row, 2),
  );
}

/** Returns one event; undefined if the project has no event with this id. */
export async function findEvent(db: Db, p: { projectId: string; id: string | null }): Promise<EventRecord | undefined> {
  const { rows } = await sql<EventRecord>`
    SELECT ${COLUMNS} FROM events WHERE project_id = ${p.projectId} AND id = ${p.id}
  `.execute(db);
  return rows[0];
}

/**
 * Finds the executions that these events started, except sandboxes, by event id. Uses the index `executions_contact`.
 */
export async function findExecutionsStartedBy(
  db: Db,
  p: { projectId: string; events: Pick<EventRecord, 'id' | 'contactId'>[] },
): Promise<Map<string, { id: string; workflowId: string }[]>> {
  const ofContacts = p.events.filter(({ contactId }) => contactId !== null);
  if (ofContacts.length === 0) return new Map();
  const ids = ofContacts.map(({ id }) => id).sort();
  const { rows } = await sql<{ id: string; workflowId: string; eventId: string }>`
    SELECT id, workflow_id AS "workflowId", event_id AS "eventId" FROM executions
    WHERE project_id = ${p.projectId} AND contact_id = ANY(${[...new Set(ofContacts.map(({ contactId }) => contactId))]}::uuid[])
      AND event_id = ANY(${ids}::uuid[]) AND id > ${ids[0]}::uuid AND NOT sandbox
    ORDER BY id
  `.execute(db);
  return groupBy(rows, ({ eventId }) => eventId);
}

export interface EventCount {
  name: string;
  count: number;
  lastAt: Date;
}

/** Counts the events of a time span by name, the most frequent names first, at most 1,000 names. */
export async function countEvents(db: Db, p: { projectId: string; since?: Date; until?: Date }): Promise<EventCount[]> {
  const { rows } = await sql<EventCount>`
    SELECT name, count(*) AS count, max(created_at) AS "lastAt" FROM events
    WHERE project_id = ${p.projectId} ${p.since ? sql`AND created_at >= ${p.since}` : sql``}
      ${p.until ? sql`AND created_at <= ${p.until}` : sql``}
    GROUP BY name ORDER BY count(*) DESC, name LIMIT 1000
  `.execute(db);
  return rows;
}

export interface NamedUse {
  id: string;
  name: string;
}

export interface EventUsage {
  usedInSegments: NamedUse[];
  usedInWorkflows: NamedUse[];
  totalCount: number;
  uniqueContacts: number;
  canDelete: boolean;
}

/** Returns the segments and workflows that use an event name, and how often the event was recorded. */
export async function getEventUsage(db: Db, p: { projectId: string; name: string }): Promise<EventUsage> {
  const [usedInSegments, usedInWorkflows, totals] = [
    await listSegmentsUsing(db, p),
    await listWorkflowsUsing(db, p),
    await countByName(db, p),
  ];
  const free = usedInSegments.length === 0 && usedInWorkflows.length === 0;
  return { usedInSegments, usedInWorkflows, ...totals, canDelete: free && !isSystemEvent(p.name) };
}

/**
 * Deletes all events of the project with a name, and returns their number.
 * @throws AppError CONFLICT while a segment or workflow uses the name, and for events that the service records itself
 */
export async function deleteEvents(db: Db, p: { projectId: string; name: string }): Promise<number> {
  if (isSystemEvent(p.name)) {
    throw new AppError('CONFLICT', {
      message: 'The service writes this event itself, so its history cannot be deleted.',
      details: { name: p.name },
      suggestion: 'Delete only your own events. Events of the service are deleted after their retention period.',
    });
  }
  const { usedInSegments, usedInWorkflows } = await getEventUsage(db, p);
  if (usedInSegments.length + usedInWorkflows.length > 0) {
    throw new AppError('CONFLICT', {
      message: 'The event is in use.',
      details: { usedInSegments, usedInWorkflows },
      suggestion: 'Remove it from these segments and workflows first.',
    });
  }
  return deleteInBatches(db, sql`project_id = ${p.projectId} AND name = ${p.name}`);
}

/**
 * Rows per statement. The number is small, so no statement holds its locks for long. If the deletion is interrupted,
 * the next request for it deletes the rest.
 */
const DELETE_BATCH = 20_000;

async function deleteInBatches(db: Db, where: RawBuilder<unknown>): Promise<number> {
  let deleted = 0;
  for (let batch = DELETE_BATCH; batch === DELETE_BATCH; ) {
    const { numAffectedRows } = await sql`
      DELETE FROM events WHERE id IN (SELECT id FROM events WHERE ${where} LIMIT ${DELETE_BATCH})
    `.execute(db);
    batch = Number(numAffectedRows ?? 0n);
    deleted += batch;
  }
  return deleted;
}

async function countByName(db: Db, p: { projectId: string; name: string }) {
  const { rows } = await sql<{ totalCount: number; uniqueContacts: number }>`
    SELECT count(*) AS "totalCount", count(DISTINCT contact_id) AS "uniqueContacts"
    FROM events WHERE project_id = ${p.projectId} AND name = ${p.name}
  `.execute(db);
  return rows[0] ?? { totalCount: 0, uniqueContacts: 0 };
}

async function listSegmentsUsing(db: Db, p: { projectId: string; name: string }): Promise<NamedUse[]> {
  const { rows } = await sql<NamedUse & { condition: unknown }>`
    SELECT id, name, condition FROM segments WHERE project_id = ${p.projectId} AND condition IS NOT NULL ORDER BY id
  `.execute(db);
  return rows
    .filter((row) => hasReference(parseCondition(row.condition), { eventName: p.name }))
    .map(({ id, name }) => ({ id, name }));
}

/**
 * Lists the workflows that use the event: as their trigger, as an exit, in a WAIT_FOR_EVENT, or in a condition. A
 * workflow that is started manually may still have an event name, but the event does not start it.
 */
export async function listWorkflowsUsing(db: Db, p: { projectId: string; name: string }): Promise<NamedUse[]> {
  const types = STEP_TYPES.filter((type) => STEPS[type].usesEvent);
  const { rows } = await sql<NamedUse & { triggered: boolean } & StepOfUse>`
    SELECT w.id, w.name, (w.trigger_type = 'EVENT' AND w.event_name IS NOT DISTINCT FROM ${p.name}) OR EXISTS (
      SELECT FROM jsonb_array_elements(w.exit_on) AS x WHERE x->>'eventName' = ${p.name}) AS triggered, s.type, s.config
    FROM workflows w LEFT JOIN workflow_steps s ON s.workflow_id = w.id AND s.type = ANY(${types}::text[])
    WHERE w.project_id = ${p.projectId} ORDER BY w.id
  `.execute(db);
  const using = rows.filter((row) => row.triggered || stepUsesEvent(row, p.name));
  return [...new Map(using.map(({ id, name }) => [id, { id, name }])).values()];
}

/** A step that may use an event. The fields are null for a workflow without such a step. */
type StepOfUse = { type: StepType; config: StepConfig } | { type: null; config: null };

function stepUsesEvent({ type, config }: StepOfUse, eventName: string): boolean {
  return type !== null && STEPS[type].usesEvent?.(config, eventName) === true;
}
