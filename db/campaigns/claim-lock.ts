import { type RawBuilder, sql } from 'kysely';
import type { Trx } from '../connection.ts';
import type { CampaignRef } from './campaigns.ts';

/**
 * The key of a campaign's claim lock. Claims of recipients take this lock as a shared lock until their commit. A pause
 * or cancellation takes this lock exclusively, to exclude claims. A shared lock on the campaign's row would not be
 * enough, because row locks are not fair. While a campaign sends at full speed, some claim always holds the shared row
 * lock, so a pause would wait for seconds. Postgres queues requests for this advisory lock, so a claim that is
 * requested after a pause waits for the pause.
 */
const lockKey = (projectId: RawBuilder<unknown>, id: RawBuilder<unknown>) =>
  sql`hashtextextended('claims:' || (${projectId})::uuid::text || (${id})::uuid::text, 0)`;

/**
 * An SQL condition on `campaigns k` that takes the shared lock and is always true. Postgres evaluates the condition
 * before the statement locks the row, so the lock is taken first.
 */
export const SHARES_CLAIM_LOCK = sql<boolean>`(pg_advisory_xact_lock_shared(${lockKey(sql`k.project_id`, sql`k.id`)}) IS NOT NULL)`;

/**
 * Waits until the running claims of a campaign have committed. Later claims wait for this transaction. Call this
 * function before locking the campaign's row, never afterwards.
 */
export async function awaitClaims(trx: Trx, { projectId, id }: CampaignRef): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${lockKey(sql`${projectId}`, sql`${id}`)})`.execute(trx);
}
