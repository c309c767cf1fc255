import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import type { OpenWait } from '../../db/events/listeners.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import { isOwnedBySql } from '../../db/owned-by.ts';
import { countsForListener } from '../../rules/events/automatic-emails.ts';
import { matchesEventData } from '../../rules/filters/evaluate.ts';
import { type Condition, parseCondition } from '../../rules/filters/filters.ts';
import type { OutboxRow } from '../../rules/outbox.ts';

// When an event satisfies an open wait, this module only records the event in `execution_waits`. `pause-end.ts` ends
// the pause when the Temporal workflow wakes.

export interface WaitRef {
  executionId: string;
  visit: number;
}

export interface NewWait extends WaitRef {
  contactId: string;
  eventName: string;
  filters: Condition | undefined;
  /** Whether automatic replies count for a wait for `email.received`. */
  includeAutomatic: boolean;
  /**
   * Events recorded since this instant count, even when they were recorded before the wait was registered. Null means
   * the time of the transaction.
   */
  since: Date | null;
  deadlineAt: Date | null;
}

/** Registers waits of executions for events. The caller's transaction has locked the contacts. */
export async function insertWaits(trx: Trx, p: { projectId: string; waits: NewWait[] }): Promise<void> {
  const { projectId, waits } = p;
  if (waits.length === 0) return;
  await sql`
    INSERT INTO execution_waits (project_id, execution_id, visit, contact_id, event_name, filters, since, deadline_at, include_automatic)
    SELECT ${projectId}, u.execution_id, u.visit, u.contact_id, u.event_name, u.filters, coalesce(u.since, now()), u.deadline_at, u.include_automatic
    FROM unnest(${waits.map((w) => w.executionId)}::uuid[], ${waits.map((w) => w.visit)}::int[],
      ${waits.map((w) => w.contactId)}::uuid[], ${waits.map((w) => w.eventName)}::text[],
      ${waits.map((w) => (w.filters ? JSON.stringify(w.filters) : null))}::jsonb[], ${waits.map((w) => w.since)}::timestamptz[],
      ${waits.map((w) => w.deadlineAt)}::timestamptz[], ${waits.map((w) => w.includeAutomatic || null)}::boolean[])
      AS u (execution_id, visit, contact_id, event_name, filters, since, deadline_at, include_automatic)
  `.execute(trx);
}

/** The maximum number of recorded events that are compared with a new wait. The index `events_name` finds them. */
const EVENTS_CHECKED = 100;

/** The criteria by which a new wait searches the recorded events. */
export interface SoughtEvent
  extends Pick<NewWait, 'contactId' | 'eventName' | 'filters' | 'includeAutomatic' | 'since'> {
  /**
   * The ids of events that have already ended waits in the current walk. The visits of these waits are not in Postgres
   * yet, so the query does not find them.
   */
  taken: string[];
  /** The number of the visit before the wait; 0 at the start of the execution. */
  from: number;
}

/**
 * Finds the first event recorded since `since` that matches a new wait, so that the wait ends at once. An event that
 * started the execution, or ended one of its waits, does not end another wait of the same execution. The caller has
 * locked the contact.
 * @returns the event's id, and whether an unauthenticated caller caused the event
 */
export async function findMatchingEvent(
  trx: Trx,
  { projectId, id: executionId }: { projectId: string; id: string },
  wait: SoughtEvent,
): Promise<{ id: string; untrustedTrigger: boolean } | undefined> {
  const { rows } = await sql<{ id: string; data: unknown; untrustedTrigger: boolean; zone: string }>`
    SELECT id, data, untrusted OR swayed AS "untrustedTrigger", (SELECT timezone FROM projects WHERE id = ${projectId}) AS zone
    FROM events
    WHERE project_id = ${projectId} AND name = ${wait.eventName} AND contact_id = ${wait.contactId}
      AND created_at >= coalesce(${wait.since}::timestamptz, now()) AND id <> ALL(${wait.taken}::uuid[])
      AND id IS DISTINCT FROM (SELECT event_id FROM executions WHERE id = ${executionId} AND project_id = ${projectId})
      AND NOT EXISTS (
        SELECT FROM execution_steps s WHERE s.execution_id = ${executionId} AND s.output->>'eventId' = events.id::text)
    ORDER BY created_at LIMIT ${EVENTS_CHECKED}
  `.execute(trx);
  const now = new Date();
  return rows.find(({ data, zone }) => {
    const event = { name: wait.eventName, data: (data ?? {}) as Record<string, unknown> };
    return countsForListener(wait, event) && matchesEventData(wait.filters, event.data, { now, zone });
  });
}

/**
 * Records that events of unauthenticated callers ended waits of executions. Runs in the transaction that advances the
 * executions, which has locked their contacts.
 */
export async function markExecutionsUntrusted(
  trx: Trx,
  p: { projectId: string; executionIds: string[] },
): Promise<void> {
  if (p.executionIds.length === 0) return;
  await sql`
    UPDATE executions SET swayed = true WHERE id = ANY(${p.executionIds}::uuid[]) AND ${isOwnedBySql('project_id', p.projectId)}
  `.execute(trx);
}

/**
 * Marks open waits as satisfied if one of these events matches, in the caller's transaction, which has locked the
 * contacts. Only the row in Postgres decides whether a wait is satisfied. The signal to Temporal only wakes the
 * workflow, so a late or lost signal does not change the result.
 */
export async function satisfyWaits(
  trx: Trx,
  p: {
    projectId: string;
    zone: string | undefined;
    events: {
      id: string;
      contactId: string | null;
      name: string;
      data: Record<string, unknown>;
      untrustedTrigger: boolean;
    }[];
    waits: OpenWait[];
  },
): Promise<OutboxRow[]> {
  const { projectId, events, waits } = p;
  const clock = { now: new Date(), zone: p.zone };
  const satisfied = waits.flatMap((wait) => {
    const filters = wait.filters ? parseCondition(wait.filters, 'wait') : undefined;
    const event = events.find(
      (candidate) =>
        candidate.contactId === wait.contactId &&
        candidate.name === wait.eventName &&
        countsForListener(wait, candidate) &&
        matchesEventData(filters, candidate.data, clock),
    );
    return event ? [{ ...wait, eventId: event.id, untrustedTrigger: event.untrustedTrigger }] : [];
  });
  if (satisfied.length === 0) return [];
  await sql`
    UPDATE execution_waits w SET event_id = u.event_id
    FROM unnest(${satisfied.map((w) => w.executionId)}::uuid[], ${satisfied.map((w) => w.visit)}::int[],
      ${satisfied.map((w) => w.eventId)}::uuid[]) AS u (execution_id, visit, event_id)
    WHERE w.execution_id = u.execution_id AND w.visit = u.visit AND w.event_id IS NULL
  `.execute(trx);
  await markExecutionsUntrusted(trx, {
    projectId,
    executionIds: satisfied.flatMap((wait) => (wait.untrustedTrigger ? wait.executionId : [])),
  });
  return enqueue(
    trx,
    satisfied.map((wait) => ({
      projectId,
      kind: 'execution.event' as const,
      refId: wait.executionId,
      payload: { visit: wait.visit },
    })),
  );
}

/** The event that satisfied a wait. `at` is when it was recorded; null if its row has been deleted since. */
export interface WaitEvent {
  id: string;
  at: Date | null;
}

/**
 * Finds the events that satisfied these waits. Returns the events by execution id. Waits that have no event yet or do
 * not exist are absent from the result.
 */
export async function findWaitEvents(
  trx: Trx,
  p: { projectId: string; waits: WaitRef[] },
): Promise<Map<string, WaitEvent>> {
  if (p.waits.length === 0) return new Map();
  const { rows } = await sql<WaitEvent & { execution_id: string }>`
    SELECT w.execution_id, w.event_id AS id, e.created_at AS at FROM execution_waits w
    JOIN unnest(${p.waits.map((w) => w.executionId)}::uuid[], ${p.waits.map((w) => w.visit)}::int[]) AS u (execution_id, visit)
      USING (execution_id, visit)
    LEFT JOIN events e ON e.id = w.event_id
    WHERE w.project_id = ${p.projectId} AND w.event_id IS NOT NULL
  `.execute(trx);
  return new Map(rows.map(({ execution_id, ...event }) => [execution_id, event]));
}

/** Deletes waits that have ended, so that later events are matched against open waits only. */
export async function deleteWaits(trx: Trx, p: { projectId: string; waits: WaitRef[] }): Promise<void> {
  if (p.waits.length === 0) return;
  await sql`
    DELETE FROM execution_waits w
    USING unnest(${p.waits.map((w) => w.executionId)}::uuid[], ${p.waits.map((w) => w.visit)}::int[]) AS u (execution_id, visit)
    WHERE w.execution_id = u.execution_id AND w.visit = u.visit AND w.project_id = ${p.projectId}
  `.execute(trx);
}
