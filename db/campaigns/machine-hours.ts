import { sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';
import type { CampaignRef } from './campaigns.ts';

/** Number of hours after the start of a campaign that are counted. After three days, almost no one opens it. */
export const SERIES_HOURS = 72;

/** Opens and clicks by bots, such as prefetchers and scanners. */
export interface MachineHits {
  campaignId: string;
  opens: number;
  clicks: number;
}

/**
 * Adds opens and clicks by bots to the counts of the current hour, in the transaction that counts them for each email.
 * Ignores campaigns that started more than 72 hours ago. Must be the last statement of the transaction: concurrent
 * transactions update the same row of a campaign, and wait for each other from this statement until the commit.
 */
export async function recordMachineHits(trx: Trx, p: { projectId: string; hits: MachineHits[] }): Promise<void> {
  const { projectId, hits } = p;
  if (hits.length === 0) return;
  await sql`
    INSERT INTO campaign_machine_hours AS m (campaign_id, hour, project_id, opens, clicks)
    SELECT c.id, floor(extract(epoch FROM now()) / 3600)::int, c.project_id, sum(u.opens), sum(u.clicks)
    FROM unnest(${hits.map((hit) => hit.campaignId)}::uuid[], ${hits.map((hit) => hit.opens)}::int[],
      ${hits.map((hit) => hit.clicks)}::int[]) AS u (campaign_id, opens, clicks)
    JOIN campaigns c ON c.id = u.campaign_id AND c.project_id = ${projectId}
    WHERE c.started_at > now() - make_interval(hours => ${SERIES_HOURS})
    GROUP BY c.id ORDER BY c.id
    ON CONFLICT (campaign_id, hour) DO UPDATE SET opens = m.opens + excluded.opens, clicks = m.clicks + excluded.clicks
  `.execute(trx);
}

/** Reads the counts by hour. Hours are numbered from 1970. Hours without opens or clicks are absent. */
export async function readMachineHours(
  db: Db,
  p: CampaignRef,
): Promise<Map<number, { opens: number; clicks: number }>> {
  const { rows } = await sql<{ hour: number; opens: number; clicks: number }>`
    SELECT hour, opens, clicks FROM campaign_machine_hours WHERE campaign_id = ${p.id} AND project_id = ${p.projectId}
  `.execute(db);
  return new Map(rows.map(({ hour, opens, clicks }) => [hour, { opens, clicks }]));
}

/** Deletes the counts of a campaign that is deleted. */
export async function deleteMachineHours(trx: Trx, p: CampaignRef): Promise<void> {
  await sql`DELETE FROM campaign_machine_hours WHERE campaign_id = ${p.id} AND project_id = ${p.projectId}`.execute(
    trx,
  );
}
