import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import type { OpenWait } from '../../db/events/listeners.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import { ownedBy } from '../../db/owned-by.ts';
import { countsForListener } from '../../rules/events/automatic-emails.ts';
import { matchesEventData } from '../../rules/filters/evaluate.ts';
import { type Condition, parseCondition } from '../../rules/filters/filters.ts';
import type { OutboxRow } from '../../rules/outbox.ts';

// This module only records that a wait is satisfied. The pause ends in `pause-end.ts`, when the workflow wakes.

export interface WaitRef {
  executionId: string;
  visit: number;
}

export interface NewWait extends WaitRef {
  contactId: string;
  eventName: string;
  filters: Condition | undefined;
  /** Whether automatic emails count for a wait for `email.received`. */
  includeAutomatic: boolean;
  /**
   * Events count from this instant on, even when they were recorded before the registration. Null means the time of the
   * transaction.
   */
  since: Date | null;
  deadlineAt: Date | null;
}

/** Registers waits of executions for events. The caller holds the contacts' locks. */
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

/** The number of newest events that are checked, by the index `events_name`. */
const EVENTS_CHECKED = 100;

/** The event that a new wait looks for among the recorded events. */
export interface SoughtEvent
  extends Pick<NewWait, 'contactId' | 'eventName' | 'filters' | 'includeAutomatic' | 'since'> {
  /** Events that have already ended waits in the current walk. Their visits are not written yet. */
  taken: string[];
  /** The visit before the wait; 0 at the start of the execution. */
  from: number;
}

/**
 * Finds the first event recorded since `since` that a new wait already matches, so that the wait ends at once. An event
 * starts an execution or ends one of its waits; the next wait needs another event. The caller holds the contact's lock.
 * @returns its id, and whether an unauthenticated caller caused it
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
 * Records that unauthenticated callers moved executions past a wait, in the transaction that moves them, under their
 * contacts' locks.
 */
export async function markUntrustedTrigger(trx: Trx, p: { projectId: string; executionIds: string[] }): Promise<void> {
  if (p.executionIds.length === 0) return;
  await sql`
    UPDATE executions SET swayed = true WHERE id = ANY(${p.executionIds}::uuid[]) AND ${ownedBy('project_id', p.projectId)}
  `.execute(trx);
}

/**
 * Satisfies the open waits that these events match, in the caller's transaction, which holds the contacts' locks. The
 * row records that a wait is over. The signal only wakes the workflow, so a late or lost signal changes nothing.
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
  await markUntrustedTrigger(trx, {
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

/** Finds the events that ended these waits, by execution. Open and unknown waits are absent. */
export async function findWaitEvents(
  trx: Trx,
  p: { projectId: string; waits: WaitRef[] },
): Promise<Map<string, string>> {
  if (p.waits.length === 0) return new Map();
  const { rows } = await sql<{ execution_id: string; event_id: string }>`
    SELECT w.execution_id, w.event_id FROM execution_waits w
    JOIN unnest(${p.waits.map((w) => w.executionId)}::uuid[], ${p.waits.map((w) => w.visit)}::int[]) AS u (execution_id, visit)
      USING (execution_id, visit)
    WHERE w.project_id = ${p.projectId} AND w.event_id IS NOT NULL
  `.execute(trx);
  return new Map(rows.map((row) => [row.execution_id, row.event_id]));
}

/** Deletes waits whose steps are passed, so that later events are matched against open waits only. */
export async function deleteWaits(trx: Trx, p: { projectId: string; waits: WaitRef[] }): Promise<void> {
  if (p.waits.length === 0) return;
  await sql`
    DELETE FROM execution_waits w
    USING unnest(${p.waits.map((w) => w.executionId)}::uuid[], ${p.waits.map((w) => w.visit)}::int[]) AS u (execution_id, visit)
    WHERE w.execution_id = u.execution_id AND w.visit = u.visit AND w.project_id = ${p.projectId}
  `.execute(trx);
}
