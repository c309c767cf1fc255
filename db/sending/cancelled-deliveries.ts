import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';

/** A cancelled delivery, and the messages that it had not delivered as far as it knows. */
export interface CancelledDelivery {
  projectId: string;
  deliveryId: string;
  ids: string[];
}

/**
 * Ends emails whose delivery was cancelled as FAILED, reason `cancelled`. Emails that were sent, or that another
 * delivery has claimed, do not change. Idempotent.
 */
export async function cancelEmails(db: Db, delivery: CancelledDelivery): Promise<number> {
  return endOpen(db, sql`emails`, sql`('PENDING', 'SENDING')`, delivery);
}

/** Ends SMS in the same way as `cancelEmails` ends emails. */
export async function cancelSms(db: Db, delivery: CancelledDelivery): Promise<number> {
  return endOpen(db, sql`sms_messages`, sql`('PENDING')`, delivery);
}

/** Also removes the claims, so that results of a sender that Temporal had lost are ignored. */
async function endOpen(
  db: Db,
  table: RawBuilder<unknown>,
  open: RawBuilder<unknown>,
  { projectId, deliveryId, ids }: CancelledDelivery,
): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE ${table} SET status = 'FAILED', reason = 'cancelled', claim = NULL
    WHERE project_id = ${projectId} AND id = ANY(${ids}::uuid[]) AND status IN ${open} AND sent_at IS NULL
      AND (delivery_id IS NULL OR delivery_id = ${deliveryId})
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}
