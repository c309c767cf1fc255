import { type RawBuilder, sql } from 'kysely';
import type { Trx } from '../connection.ts';
import type { CampaignRef } from './campaigns.ts';

/**
 * Claims of a campaign's recipients share this lock until their commit. Code that must exclude claims takes it
 * exclusively. The shared lock of the campaign's row is not enough, because it is not fair: consecutive claims would
 * share it without a gap, and a pause at full speed would wait for seconds. This lock is a queue, in which a claim
 * after a pause waits for the pause.
 */
const lockKey = (projectId: RawBuilder<unknown>, id: RawBuilder<unknown>) =>
  sql`hashtextextended('claims:' || (${projectId})::uuid::text || (${id})::uuid::text, 0)`;

/**
 * A condition on `campaigns k` that takes the shared lock and is then true. Postgres evaluates the condition, and so
 * takes the shared lock, before the statement locks the row.
 */
export const SHARES_CLAIM_LOCK = sql<boolean>`(pg_advisory_xact_lock_shared(${lockKey(sql`k.project_id`, sql`k.id`)}) IS NOT NULL)`;

/**
 * Waits for the claims of a campaign that are running; later claims wait for this transaction. Call it before the
 * campaign's row is locked, never after.
 */
export async function awaitClaims(trx: Trx, { projectId, id }: CampaignRef): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${lockKey(sql`${projectId}`, sql`${id}`)})`.execute(trx);
}
