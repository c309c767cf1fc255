import type { JobKind } from './contacts/jobs.ts';
import type { LastAttempt } from './emails/last-attempt.ts';
import type { Simulated } from './emails/simulator.ts';
import type { ExecutionStart, ExecutionStatus } from './executions/execution.ts';

/**
 * The kinds of outbox rows, with their payloads. `refId` is the id of the record that needs work, such as an email.
 * Handing a row to Temporal twice is safe: a second start has the same workflow id, and signals and cancellations may
 * be repeated. Payloads contain ids, times, codes and reasons, but no personal data and no text of messages, because
 * Temporal's UI shows them. Rows that an earlier version wrote may still wait, so new fields must be optional.
 */
interface OutboxPayloads {
  /**
   * refId = email. A worker makes the first attempt without Temporal. An email with large attachments has a separate
   * queue.
   */
  'email.deliver': { large?: true };
  /** refId = SMS message. A worker makes the first attempt without Temporal. */
  'sms.deliver': Nothing;
  /**
   * refId = email that was deferred at the first attempt. All rows of a project that a worker takes together start one
   * workflow `emailDelivery`.
   */
  'email.retry': Retry;
  /**
   * refId = SMS message that was deferred at the first attempt. All rows of a project that a worker takes together
   * start one workflow `smsDelivery`.
   */
  'sms.retry': Retry;
  /** refId = email to the simulator. The simulated feedback about it is recorded when the row is due. */
  'email.simulated': { what: Simulated };
  /** refId = execution that must start. */
  'execution.start': ExecutionStart;
  /** refId = execution whose wait at this visit is over. */
  'execution.event': { visit: number };
  /** refId = execution that was CANCELLED in the database, so its workflow must end. */
  'execution.cancel': { reason?: string };
  /** refId = execution that ended in the database in another way; its workflow ends in the same way. */
  'execution.ended': { status: ExecutionStatus; reason: string | null };
  /** refId = campaign that must start. */
  'campaign.start': { sendNo: number };
  /** refId = campaign that was changed. Its workflow must read the campaign again. */
  'campaign.changed': { sendNo: number };
  /** refId = job that must start. */
  'job.start': { kind: JobKind };
  /** refId = project whose held emails must be sent. */
  'hold.release': Nothing;
  /** refId = project whose sending window or time zone has changed. */
  'window.changed': Nothing;
  /** refId = project with a variant that is in stock again. */
  'restock.start': { variantId: string; restockNo: number };
  /** refId = webhook endpoint with due deliveries. */
  'webhook.deliver': { endpointId: string };
}

type Nothing = Record<string, never>;

interface Retry {
  /**
   * When the next attempt is due, in ISO 8601. Absent if the process was killed during the first attempt; the message
   * is then due now.
   */
  dueAt?: string;
  last?: LastAttempt;
}

export type OutboxKind = keyof OutboxPayloads;

/**
 * Kinds whose rows only tell a workflow to read the database again. One signal is enough for all waiting rows of one
 * workflow. Until the workflow has confirmed a signal, the next one waits, so that signals do not pile up.
 */
export const MERGED_KINDS: ReadonlySet<OutboxKind> = new Set<OutboxKind>(['campaign.changed', 'webhook.deliver']);

/** A row of one kind, as a worker reads it. */
export interface OutboxRowOf<K extends OutboxKind> {
  id: string;
  projectId: string;
  kind: K;
  refId: string;
  payload: OutboxPayloads[K];
}

/** A row of the outbox, discriminated by its kind. */
export type OutboxRow = { [K in OutboxKind]: OutboxRowOf<K> }[OutboxKind];

type NewOutboxRowOf<K extends OutboxKind> = Omit<OutboxRowOf<K>, 'id' | 'payload'> &
  (Nothing extends OutboxPayloads[K] ? { payload?: OutboxPayloads[K] } : { payload: OutboxPayloads[K] });

export type NewOutboxRow = { [K in OutboxKind]: NewOutboxRowOf<K> }[OutboxKind];

/**
 * The priority of waiting rows. Workers have a separate loop for each priority that is not in `TEMPORAL_PRIORITIES`, so
 * these rows do not wait for rows of other priorities. The rows for Temporal (2 to 4) share a loop that usually takes
 * lower numbers first: work that has already started (2) comes before new executions (3), and bulk work (4) comes last.
 * Within a priority, projects take turns, and the rows of a project are taken in the order of their ids.
 */
export const OUTBOX_PRIORITY: Record<OutboxKind, number> = {
  'email.deliver': 0,
  'sms.deliver': 1,
  'execution.event': 2,
  'execution.cancel': 2,
  'execution.ended': 2,
  'campaign.changed': 2,
  'email.retry': 2,
  'sms.retry': 2,
  'webhook.deliver': 2,
  'execution.start': 3,
  'campaign.start': 4,
  'job.start': 4,
  'hold.release': 4,
  'window.changed': 4,
  'restock.start': 4,
  'email.simulated': 6,
};

/**
 * The priority of emails with large attachments. Only a few of them are sent concurrently. Such emails have their own
 * priority, so that no other email waits for them, not even an email of the same project.
 */
export const LARGE_EMAIL_PRIORITY = 5;

export type QueuedRow = { [K in OutboxKind]: Pick<OutboxRowOf<K>, 'kind' | 'payload'> }[OutboxKind];

/** Returns the priority of a row: `OUTBOX_PRIORITY` of its kind, or `LARGE_EMAIL_PRIORITY`. */
export function getOutboxPriority(row: QueuedRow): number {
  return isLarge(row) ? LARGE_EMAIL_PRIORITY : OUTBOX_PRIORITY[row.kind];
}

function isLarge(row: QueuedRow): boolean {
  return row.kind === 'email.deliver' && row.payload.large === true;
}

/** The priorities of rows that are handed to Temporal. Workers process rows of other priorities without Temporal. */
export const TEMPORAL_PRIORITIES = [2, 3, 4] as const;
export type TemporalPriority = (typeof TEMPORAL_PRIORITIES)[number];

/** The channel of NOTIFY that tells workers that rows wait. The payload is an `OutboxLoopName`. */
export const OUTBOX_CHANNEL = 'outbox';
export type OutboxLoopName = 'email' | 'largeEmail' | 'sms' | 'simulator' | 'temporal';

/** Returns the name of the worker's loop that takes a row. */
export function getOutboxLoopName(row: QueuedRow): OutboxLoopName {
  if (row.kind === 'email.deliver') return isLarge(row) ? 'largeEmail' : 'email';
  if (row.kind === 'email.simulated') return 'simulator';
  return row.kind === 'sms.deliver' ? 'sms' : 'temporal';
}
