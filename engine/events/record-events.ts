import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { lockContacts } from '../../db/contacts/locks.ts';
import { findListeners, type TriggeredWorkflow } from '../../db/events/listeners.ts';
import { isOwnedBySql } from '../../db/owned-by.ts';
import { prepared } from '../../db/prepared.ts';
import type { RowOf } from '../../db/schema/database.ts';
import { queueDeliveries } from '../../db/webhooks/deliveries.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { countsForListener } from '../../rules/events/automatic-emails.ts';
import type { NotStarted } from '../../rules/events/not-started.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { exitExecutions } from '../automations/exits.ts';
import { startExecutions } from '../automations/start.ts';
import { satisfyWaits } from '../automations/waits.ts';

export interface NewEvent {
  /** Null for an event without a contact. */
  contactId: string | null;
  name: string;
  data: Record<string, unknown>;
  emailId?: string | null;
  /**
   * Whether an unauthenticated caller or the sender of an email wrote `data`. Such data appears only as text, never in
   * a link target, an address or a header.
   */
  untrusted: boolean;
  /**
   * Whether an unauthenticated caller caused the event, even if the data comes from the service or the tenant.
   * Executions that such an event starts cannot end a suppression or an unsubscription.
   */
  untrustedTrigger: boolean;
  /**
   * `test` when a request with a test key caused the event: executions that it starts send no email or SMS to a
   * provider.
   */
  mode?: KeyMode;
  /**
   * The execution whose step caused the event; null for other causes. Executions that the event starts are one level
   * deeper in the chain.
   */
  causeId: string | null;
  /** The actor, for the contact's timeline. */
  actor?: string | null;
}

export interface RecordedEvent extends NewEvent {
  id: string;
}

export interface RecordedEvents {
  events: RecordedEvent[];
  /** The rows to pass to `outbox.wake` after the commit. */
  outbox: OutboxRow[];
}

/**
 * Records events. All code that creates events calls this function, except the recorder of campaigns. That recorder
 * inserts `email.sent` directly if no automation or webhook waits for it (db/campaigns/completions.ts). In the caller's
 * transaction, the function locks the contacts and inserts the events. It then ends the executions that exit on the
 * events, and starts executions of the workflows that the events trigger. It also marks matching waits as satisfied,
 * and queues the events for webhook endpoints.
 * Because of the lock, the events and waits of a contact are recorded one after the other. No event is therefore lost
 * between the end of a step and the registration of a wait. An event at the end of a chain of ten executions starts no
 * execution (see `startExecutions`), but it satisfies waits and is sent to endpoints. Events that an untrusted
 * execution causes are marked as untrusted.
 * If a contact was erased before the lock, its events are recorded as an erasure leaves them: without the contact and
 * without data. Nothing reacts to these events. Source: docs/ARCHITECTURE.md, "One event"; contract §3.4 Erasure.
 * @param p.lockedContacts the result of `lockContacts` for these contacts, if the caller's transaction has already
 * locked them
 */
export async function recordEvents(
  trx: Trx,
  p: { projectId: string; events: NewEvent[]; lockedContacts?: ReadonlySet<string> },
): Promise<RecordedEvents> {
  const { projectId } = p;
  if (p.events.length === 0) return { events: [], outbox: [] };
  const contactIds = listContactIds(p.events);
  const contacts = p.lockedContacts ?? (await lockContacts(trx, { projectId, ids: contactIds }));
  // Requests may contain ids in upper case.
  const isErased = ({ contactId }: NewEvent) => contactId !== null && !contacts.has(contactId.toLowerCase());
  const recorded = await insertEvents(trx, {
    projectId,
    events: p.events.map((event) => (isErased(event) ? { ...event, contactId: null, data: {} } : event)),
  });
  const events = recorded.filter((_, index) => p.events[index] && !isErased(p.events[index]));
  if (events.length === 0) return { events: recorded, outbox: [] };
  const eventNames = [...new Set(events.map((event) => event.name))];
  const { workflows, exiting, waits, endpoints, zone } = await findListeners(trx, {
    projectId,
    eventNames,
    contactIds,
  });
  const outbox: OutboxRow[] = [];
  const exited = new Set<string>();
  // Each round first ends older executions and then starts new ones, so an event does not end the execution that it
  // starts.
  for (const round of exiting.length > 0 ? splitIntoRounds(events) : [events]) {
    const ended = await exitExecutions(trx, { projectId, zone, events: round, workflows: exiting });
    for (const id of ended.ids) exited.add(id);
    outbox.push(...ended.outbox);
    for (const workflow of workflows)
      outbox.push(...(await startTriggered(trx, { projectId, workflow, events: round })));
  }
  // Excludes waits of executions that just ended.
  const openWaits = waits.filter((wait) => !exited.has(wait.executionId));
  outbox.push(...(await satisfyWaits(trx, { projectId, zone, events, waits: openWaits })));
  outbox.push(...(await queueDeliveries(trx, { projectId, events, endpoints })));
  return { events: recorded, outbox };
}

/**
 * Splits the events into rounds in which no contact appears twice: the first round has the first event of each contact,
 * the second round has the second event of each contact, and so on.
 */
function splitIntoRounds(events: RecordedEvent[]): RecordedEvent[][] {
  const rounds: RecordedEvent[][] = [];
  const seen = new Map<string | null, number>();
  for (const event of events) {
    const round = event.contactId === null ? 0 : (seen.get(event.contactId) ?? 0);
    seen.set(event.contactId, round + 1);
    rounds[round] ??= [];
    rounds[round].push(event);
  }
  return rounds;
}

function listContactIds(events: NewEvent[]): string[] {
  return [...new Set(events.flatMap((event) => event.contactId ?? []))];
}

/**
 * Inserts the events. If the execution that caused an event was started by an unauthenticated caller, or such a caller
 * has ended one of its waits, the event gets the same marks: `untrusted`, or only `untrustedTrigger`.
 */
async function insertEvents(trx: Trx, p: { projectId: string; events: NewEvent[] }): Promise<RecordedEvent[]> {
  const { projectId } = p;
  const recorded = p.events.map((event) => ({ ...event, id: uuidv7() }));
  const { rows } = await prepared<RowOf<'events', ['id', 'untrusted', 'swayed']>>`
    INSERT INTO events (project_id, id, contact_id, email_id, name, data, untrusted, swayed, actor)
    SELECT ${projectId}, u.id, u.contact_id, u.email_id, u.name, u.data, u.untrusted OR coalesce(x.untrusted, false),
      u.untrusted OR u.swayed OR x.id IS NOT NULL, u.actor
    FROM unnest(
      ${recorded.map((e) => e.id)}::uuid[], ${recorded.map((e) => e.contactId)}::uuid[],
      ${recorded.map((e) => e.emailId ?? null)}::uuid[], ${recorded.map((e) => e.name)}::text[],
      ${recorded.map((e) => JSON.stringify(e.data))}::jsonb[], ${recorded.map((e) => e.untrusted)}::bool[],
      ${recorded.map((e) => e.untrustedTrigger)}::bool[], ${recorded.map((e) => e.actor ?? null)}::text[],
      ${recorded.map((e) => e.causeId)}::uuid[])
      AS u (id, contact_id, email_id, name, data, untrusted, swayed, actor, cause_id)
    LEFT JOIN executions x
      ON x.id = u.cause_id AND ${isOwnedBySql('x.project_id', projectId)} AND (x.untrusted OR x.swayed)
    RETURNING id, untrusted, swayed
  `.execute(trx);
  const marks = new Map(rows.map((row) => [row.id, { untrusted: row.untrusted, untrustedTrigger: row.swayed }]));
  return recorded.map((event) => ({ ...event, ...marks.get(event.id) }));
}

async function startTriggered(
  trx: Trx,
  p: { projectId: string; workflow: TriggeredWorkflow; events: RecordedEvent[] },
): Promise<OutboxRow[]> {
  const { projectId, workflow } = p;
  const events = p.events.filter(({ name, contactId }) => name === workflow.eventName && contactId !== null);
  const starts = events.flatMap((event) =>
    event.contactId !== null && countsForListener(workflow, event)
      ? [
          {
            contactId: event.contactId,
            eventId: event.id,
            eventName: event.name,
            event: event.data,
            context: {},
            untrusted: event.untrusted,
            untrustedTrigger: event.untrustedTrigger,
            mode: event.mode ?? ('live' as const),
            causeId: event.causeId,
          },
        ]
      : [],
  );
  const ignoredEvents = events.filter((event) => !countsForListener(workflow, event));
  await noteNotStarted(trx, { projectId, eventIds: ignoredEvents.map(({ id }) => id), workflowId: workflow.id });
  const { outbox } = await startExecutions(trx, { projectId, workflow, starts });
  return outbox;
}

/** Records on events that they did not start a workflow, because its trigger excludes automatic replies. */
async function noteNotStarted(
  trx: Trx,
  { projectId, eventIds, workflowId }: { projectId: string; eventIds: string[]; workflowId: string },
): Promise<void> {
  if (eventIds.length === 0) return;
  const refusal: NotStarted = { workflowId, reason: 'automatic', executionId: null };
  await sql`
    UPDATE events SET not_started = coalesce(not_started, '[]') || ${JSON.stringify([refusal])}::jsonb
    WHERE project_id = ${projectId} AND id = ANY(${eventIds}::uuid[])
  `.execute(trx);
}
