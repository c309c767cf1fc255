import { sql, type Transaction } from 'kysely';
import { matchesEventData } from '../domain/filter-evaluate.ts';
import { type Condition, parseCondition } from '../domain/filters.ts';
import type { OutboxRow } from '../domain/outbox.ts';
import { enqueue } from './outbox.ts';
import type { Database } from './schema.ts';

export interface NewWait {
  projectId: string;
  executionId: string;
  visit: number;
  contactId: string;
  eventName: string;
  filters: Condition | undefined;
  /** An event recorded at or after this instant counts, also one from before the registration. */
  since: Date;
  deadlineAt: Date | null;
}

/**
 * Registers that an execution waits for an event; the caller holds the contact's lock.
 * @returns the id of an event that was recorded since `since` and matches already: the wait is over as it begins
 */
export async function registerWait(trx: Transaction<Database>, wait: NewWait): Promise<string | null> {
  const eventId = await findMatchingEvent(trx, wait);
  await sql`
    INSERT INTO execution_waits
      (execution_id, visit, project_id, contact_id, event_name, filters, since, deadline_at, event_id)
    VALUES (${wait.executionId}, ${wait.visit}, ${wait.projectId}, ${wait.contactId}, ${wait.eventName},
      ${wait.filters ? JSON.stringify(wait.filters) : null}::jsonb, ${wait.since}, ${wait.deadlineAt}, ${eventId})
  `.execute(trx);
  return eventId;
}

/** The first event since then that matches; by the index events_name. At most this many are looked at: the newest decide little. */
const EVENTS_LOOKED_AT = 100;

async function findMatchingEvent(trx: Transaction<Database>, wait: NewWait): Promise<string | null> {
  const { rows } = await sql<{ id: string; data: unknown }>`
    SELECT id, data FROM events
    WHERE project_id = ${wait.projectId} AND name = ${wait.eventName} AND contact_id = ${wait.contactId}
      AND created_at >= ${wait.since}
    ORDER BY created_at LIMIT ${EVENTS_LOOKED_AT}
  `.execute(trx);
  const now = new Date();
  return rows.find((event) => matchesEventData(wait.filters, event.data ?? {}, now))?.id ?? null;
}

/**
 * Satisfies the waits that these events match, in the caller's transaction, which holds the contacts' locks. The row says that the wait
 * is over; the signal only wakes the workflow, so a signal that is late or lost changes nothing.
 */
export async function satisfyWaits(
  trx: Transaction<Database>,
  projectId: string,
  events: { id: string; contactId: string | null; name: string; data: Record<string, unknown> }[],
): Promise<OutboxRow[]> {
  const waits = await listOpenWaits(trx, projectId, events);
  const now = new Date();
  const satisfied = waits.flatMap((wait) => {
    const filters = wait.filters ? parseCondition(wait.filters, 'wait') : undefined;
    const event = events.find(
      (candidate) =>
        candidate.contactId === wait.contactId &&
        candidate.name === wait.eventName &&
        matchesEventData(filters, candidate.data, now),
    );
    return event ? [{ ...wait, eventId: event.id }] : [];
  });
  if (satisfied.length === 0) return [];
  await sql`
    UPDATE execution_waits w SET event_id = u.event_id
    FROM unnest(${satisfied.map((w) => w.executionId)}::uuid[], ${satisfied.map((w) => w.visit)}::int[],
      ${satisfied.map((w) => w.eventId)}::uuid[]) AS u (execution_id, visit, event_id)
    WHERE w.execution_id = u.execution_id AND w.visit = u.visit AND w.event_id IS NULL
  `.execute(trx);
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

interface OpenWait {
  executionId: string;
  visit: number;
  contactId: string;
  eventName: string;
  filters: unknown;
}

async function listOpenWaits(
  trx: Transaction<Database>,
  projectId: string,
  events: { contactId: string | null; name: string }[],
): Promise<OpenWait[]> {
  const contactIds = [...new Set(events.flatMap((event) => event.contactId ?? []))];
  const names = [...new Set(events.map((event) => event.name))];
  if (contactIds.length === 0) return [];
  const { rows } = await sql<OpenWait>`
    SELECT execution_id AS "executionId", visit, contact_id AS "contactId", event_name AS "eventName", filters
    FROM execution_waits
    WHERE contact_id = ANY(${contactIds}::uuid[]) AND event_name = ANY(${names}::text[]) AND event_id IS NULL
      AND project_id = ${projectId}
  `.execute(trx);
  return rows;
}

/** The event that ended a wait; null while it is open or where there is none. */
export async function findWaitEvent(
  trx: Transaction<Database>,
  executionId: string,
  visit: number,
): Promise<string | null> {
  const { rows } = await sql<{ event_id: string | null }>`
    SELECT event_id FROM execution_waits WHERE execution_id = ${executionId} AND visit = ${visit}
  `.execute(trx);
  return rows[0]?.event_id ?? null;
}

/** Takes a wait away once its step is passed, so that only open waits are looked through. */
export async function deleteWait(trx: Transaction<Database>, executionId: string, visit: number): Promise<void> {
  await sql`DELETE FROM execution_waits WHERE execution_id = ${executionId} AND visit = ${visit}`.execute(trx);
}
