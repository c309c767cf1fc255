/**
 * What the outbox can hold. `refId` is the row that the work is for; the Temporal id is made from it, so dispatching a row
 * twice is harmless. Payloads hold ids and cursors only: they reach Temporal's UI (architecture, "Temporal, as used here").
 */
export type OutboxKind =
  /** refId = email. Grouped: up to 200 mails of a project start one `emailDelivery`. */
  | 'email.deliver'
  /** refId = SMS message. Grouped likewise into one `smsDelivery`. */
  | 'sms.deliver'
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
