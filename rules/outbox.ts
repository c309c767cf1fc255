import type { JobKind } from './contacts/jobs.ts';
import type { LastAttempt } from './emails/last-attempt.ts';
import type { Simulated } from './emails/simulator.ts';
import type { ExecutionStart, ExecutionStatus } from './executions/execution.ts';

/**
 * Kinds of outbox rows with their payloads. `refId` is the row that the work is for. The Temporal id is built from it,
 * so dispatching a row twice is harmless. Payloads have ids and cursors only, because Temporal's UI shows them. Rows of
 * an earlier version may still wait, so new fields are optional.
 */
interface OutboxPayloads {
  /**
   * refId = email: a worker makes the first attempt directly from this row. An email with large files waits separately.
   */
  'email.deliver': { large?: true };
  /** refId = SMS message: likewise. */
  'sms.deliver': Nothing;
  /** refId = email that was deferred at the first attempt. Rows of one claim and project start one `emailDelivery`. */
  'email.retry': Retry;
  /** refId = SMS message that was deferred at the first attempt. Grouped in the same way into one `smsDelivery`. */
  'sms.retry': Retry;
  /** refId = email to the simulator: simulated feedback about it, when the row is due. */
  'email.simulated': { what: Simulated };
  /** refId = execution. */
  'execution.start': ExecutionStart;
  /** refId = execution: the wait of this visit is over. */
  'execution.event': { visit: number };
  /** refId = execution that was CANCELLED in the database, so its workflow must end. */
  'execution.cancel': { reason?: string };
  /** refId = execution that ended in the database in another way; its workflow ends in the same way. */
  'execution.ended': { status: ExecutionStatus; reason: string | null };
  /** refId = campaign. */
  'campaign.start': { sendNo: number };
  /** refId = campaign whose workflow must read the row again. */
  'campaign.changed': { sendNo: number };
  /** refId = job. */
  'job.start': { kind: JobKind };
  /** refId = project whose held emails must be sent. */
  'hold.release': Nothing;
  /** refId = project whose sending window or time zone has changed. */
  'window.changed': Nothing;
  /** refId = project. */
  'restock.start': { variantId: string; restockNo: number };
  /** refId = webhook endpoint with due deliveries. */
  'webhook.deliver': { endpointId: string };
}

type Nothing = Record<string, never>;

interface Retry {
  /** ISO 8601. Missing if a kill interrupted the first attempt; the message is then due now. */
  dueAt?: string;
  last?: LastAttempt;
}

export type OutboxKind = keyof OutboxPayloads;

/**
 * Kinds whose rows say only that their target has something new in the database. One signal covers all rows of a
 * target. A target gets no further signal until it has received the last one, so a workflow task has few signals.
 */
export const MERGED_KINDS: ReadonlySet<OutboxKind> = new Set<OutboxKind>(['campaign.changed', 'webhook.deliver']);

/** A row of one kind for dispatch. */
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
 * Priority of waiting rows: single emails and SMS, work that running executions wait for, new executions, bulk work.
 * Within a priority projects take turns, and a project's own rows go in the order of their ids.
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
 * Priority of emails with large attachments, of which few are in progress at a time, so that no other email waits
 * behind them, not even of the same project.
 */
export const LARGE_EMAIL_PRIORITY = 5;

export type QueuedRow = { [K in OutboxKind]: Pick<OutboxRowOf<K>, 'kind' | 'payload'> }[OutboxKind];

export function priorityOf(row: QueuedRow): number {
  return isLarge(row) ? LARGE_EMAIL_PRIORITY : OUTBOX_PRIORITY[row.kind];
}

function isLarge(row: QueuedRow): boolean {
  return row.kind === 'email.deliver' && row.payload.large === true;
}

/** Priorities of rows that Temporal starts. Workers send the other rows without Temporal. */
export const TEMPORAL_PRIORITIES = [2, 3, 4] as const;
export type TemporalPriority = (typeof TEMPORAL_PRIORITIES)[number];

/** The channel of NOTIFY that tells workers that rows wait. Its payload is one of these takers. */
export const OUTBOX_CHANNEL = 'outbox';
export type OutboxTaker = 'email' | 'largeEmail' | 'sms' | 'simulator' | 'temporal';

/** Returns which of a worker's loops takes a row. */
export function takerOf(row: QueuedRow): OutboxTaker {
  if (row.kind === 'email.deliver') return isLarge(row) ? 'largeEmail' : 'email';
  if (row.kind === 'email.simulated') return 'simulator';
  return row.kind === 'sms.deliver' ? 'sms' : 'temporal';
}
