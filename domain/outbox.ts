/**
 * What the outbox can hold. `refId` is the row that the work is for; the Temporal id is made from it, so dispatching a row
 * twice is harmless. Payloads hold ids and cursors only: they reach Temporal's UI.
 */
export type OutboxKind =
  /** refId = email: a worker makes the first attempt straight from this row. */
  | 'email.deliver'
  /** refId = SMS message: likewise. */
  | 'sms.deliver'
  /** refId = email that did not go at the first attempt; payload = { dueAt }. Up to 200 of a project start one `emailDelivery`. */
  | 'email.retry'
  /** refId = SMS message that did not go at the first attempt; payload = { dueAt }. Grouped likewise into one `smsDelivery`. */
  | 'sms.retry'
  /** refId = execution; payload = ExecutionInput of domain/execution.ts. */
  | 'execution.start'
  /** refId = execution; payload = { visit }: the wait of this visit is over. */
  | 'execution.event'
  /** refId = execution: it was ended in the database; its workflow has nothing left to do. */
  | 'execution.cancel'
  /** refId = campaign; payload = { sendNo }. */
  | 'campaign.start'
  /** refId = campaign; payload = { sendNo, change: 'reschedule' | 'cancel' }: read the row again. */
  | 'campaign.changed'
  /** refId = job; payload = { kind }. */
  | 'job.start'
  /** refId = project: send what was held. */
  | 'hold.release'
  /** refId = project; payload = { variantId, restockNo }. */
  | 'restock.start'
  /** refId = webhook endpoint; payload = { endpointId }: deliveries to it are due. */
  | 'webhook.deliver';

/** A row of the outbox as it is dispatched. */
export interface OutboxRow {
  id: string;
  projectId: string;
  kind: OutboxKind;
  refId: string;
  payload: Record<string, unknown>;
}

export type NewOutboxRow = Omit<OutboxRow, 'id' | 'payload'> & { payload?: Record<string, unknown> };

/**
 * The order in which rows that wait are taken: single mails and SMS, what executions under way wait for, new executions, bulk work. Within a
 * number projects take turns, and a project's own rows go in the order of their ids.
 */
export const OUTBOX_PRIORITY: Record<OutboxKind, number> = {
  'email.deliver': 0,
  'sms.deliver': 1,
  'execution.event': 2,
  'execution.cancel': 2,
  'campaign.changed': 2,
  'email.retry': 2,
  'sms.retry': 2,
  'webhook.deliver': 2,
  'execution.start': 3,
  'campaign.start': 4,
  'job.start': 4,
  'hold.release': 4,
  'restock.start': 4,
};

/** Priorities of what Temporal begins; the others are sent by the workers themselves. */
export const TEMPORAL_PRIORITIES = [2, 3, 4] as const;
export type TemporalPriority = (typeof TEMPORAL_PRIORITIES)[number];

/** The channel of NOTIFY on which workers hear that rows wait; its payload is one of these takers. */
export const OUTBOX_CHANNEL = 'outbox';
export type OutboxTaker = 'email' | 'sms' | 'temporal';

/** Which loop of a worker takes rows of a kind. */
export function takerOf(kind: OutboxKind): OutboxTaker {
  if (kind === 'email.deliver') return 'email';
  return kind === 'sms.deliver' ? 'sms' : 'temporal';
}
