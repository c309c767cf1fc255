import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { RecipientOutcome } from '../../rules/campaigns/outcomes.ts';

/** Reasons of skipped recipients, besides `suppressed:<why>`. */
export const SKIP_REASONS = [
  'unsubscribed',
  'unsubscribed:topic',
  'unconfirmed',
  'frequency_capped',
  'cancelled',
  'left_audience',
  'contact_deleted',
  'sender_not_verified',
  'too_late',
];

const WAITS = sql`e.status IN ('PENDING', 'SENDING', 'HELD')`;
const PASSED = sql`coalesce(e.status = 'FAILED' AND (e.reason = ANY(${SKIP_REASONS}::text[]) OR e.reason LIKE 'suppressed:%'), false)`;

/** The SQL condition for each count of the statistics, on a recipient (a row `e` of `emails`). */
export const OUTCOME_OF_E: Record<RecipientOutcome, RawBuilder<SqlBool>> = {
  pending: sql<SqlBool>`${WAITS}`,
  sent: sql<SqlBool>`NOT ${WAITS} AND e.sent_at IS NOT NULL`,
  delivered: sql<SqlBool>`e.delivered_at IS NOT NULL`,
  opened: sql<SqlBool>`e.opened_at IS NOT NULL`,
  clicked: sql<SqlBool>`e.clicked_at IS NOT NULL`,
  bounced: sql<SqlBool>`(e.status = 'BOUNCED' OR e.bounced_at IS NOT NULL)`,
  complained: sql<SqlBool>`e.complained_at IS NOT NULL`,
  unsubscribed: sql<SqlBool>`e.unsubscribed_at IS NOT NULL`,
  failed: sql<SqlBool>`NOT ${WAITS} AND e.sent_at IS NULL AND NOT ${PASSED}`,
  skipped: sql<SqlBool>`NOT ${WAITS} AND e.sent_at IS NULL AND ${PASSED}`,
};
