import { type RawBuilder, sql } from 'kysely';
import type { Reason } from '../../rules/emails/reasons.ts';

/** The assignments that mark an email as failed or skipped. Each statement that does so also sets the reason. */
export const FAILED_EMAIL_SQL = sql`status = 'FAILED', failed_at = now()`;

/**
 * Returns the assignments that mark an email as failed if it was not sent and nobody is sending it, because its contact
 * is erased.
 */
export function failWaitingEmailSql(reason: Reason): RawBuilder<unknown> {
  const waits = sql`status IN ('PENDING', 'HELD')`;
  return sql`
    failed_at = CASE WHEN ${waits} THEN now() ELSE failed_at END,
    reason = CASE WHEN ${waits} THEN ${reason} ELSE reason END,
    status = CASE WHEN ${waits} THEN 'FAILED' ELSE status END`;
}
