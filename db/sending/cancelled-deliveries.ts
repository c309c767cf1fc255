import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';
import { FAILED_EMAIL_SQL } from '../emails/failed-emails.ts';

/** A delivery workflow that was cancelled, and the messages that it had not reported as delivered. */
export interface CancelledDelivery {
  projectId: string;
  deliveryId: string;
  ids: string[];
}

/**
 * Marks emails whose delivery was cancelled as FAILED with the reason `cancelled`. Emails that were sent, or that
 * another delivery has claimed, do not change. Safe to run twice.
 * @returns the number of changed emails
 */
export async function cancelEmails(db: Db, delivery: CancelledDelivery): Promise<number> {
  return endOpenMessages(
    db,
    { table: sql`emails`, open: sql`('PENDING', 'SENDING')`, set: FAILED_EMAIL_SQL },
    delivery,
  );
}

/** Does for SMS what `cancelEmails` does for emails. */
export async function cancelSms(db: Db, delivery: CancelledDelivery): Promise<number> {
  return endOpenMessages(
    db,
    { table: sql`sms_messages`, open: sql`('PENDING')`, set: sql`status = 'FAILED'` },
    delivery,
  );
}

/** Ends open messages. Also clears their claims, so that the result of a worker that is still sending is ignored. */
async function endOpenMessages(
  db: Db,
  { table, open, set }: Record<'table' | 'open' | 'set', RawBuilder<unknown>>,
  { projectId, deliveryId, ids }: CancelledDelivery,
): Promise<number> {
  const { numAffectedRows } = await sql`
    UPDATE ${table} SET ${set}, reason = 'cancelled', claim = NULL
    WHERE project_id = ${projectId} AND id = ANY(${ids}::uuid[]) AND status IN ${open} AND sent_at IS NULL
      AND (delivery_id IS NULL OR delivery_id = ${deliveryId})
  `.execute(db);
  return Number(numAffectedRows ?? 0n);
}
