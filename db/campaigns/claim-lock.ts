import { type RawBuilder, sql } from 'kysely';
import type { Trx } from '../connection.ts';
import type { CampaignRef } from './campaigns.ts';

/**
 * Whoever claims recipients of a campaign shares this lock until its commit; whoever needs to know that nobody claims
 * takes it whole. Beside the shared lock of the campaign's row, since that one is not fair: claims that come one after
 * the other share it for ever, and a pause at full speed would wait for seconds. In this one's queue nobody passes a
 * pause.
 */
const lockKey = (projectId: RawBuilder<unknown>, id: RawBuilder<unknown>) =>
  sql`hashtextextended('claims:' || (${projectId})::uuid::text || (${id})::uuid::text, 0)`;

/**
 * As a part of a WHERE over `campaigns k`: true, once the lock is shared. Decided before the statement locks the row
 * that it finds.
 */
export const SHARES_CLAIM_LOCK = sql<boolean>`(pg_advisory_xact_lock_shared(${lockKey(sql`k.project_id`, sql`k.id`)}) IS NOT NULL)`;

/**
 * Waits for the claims of a campaign that are being made; the next ones wait for this transaction. Taken before the
 * campaign's row is locked, never after.
 */
export async function awaitClaims(trx: Trx, { projectId, id }: CampaignRef): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${lockKey(sql`${projectId}`, sql`${id}`)})`.execute(trx);
}
