import { sql } from 'kysely';
import type { CampaignStart } from '../../db/campaigns/campaigns.ts';
import { awaitClaims } from '../../db/campaigns/claim-lock.ts';
import { OPEN_RECIPIENTS } from '../../db/campaigns/recipient-rows.ts';
import type { Db, Trx } from '../../db/connection.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import { OPEN_CAMPAIGNS } from '../../db/schema/campaign-status.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { cancelCampaign } from './lifecycle.ts';

/**
 * A workflow that was to skip the rest of a cancelled campaign is missed for this long: longer than workers are away.
 */
const CANCELLED_DAYS = 2;

/** A start of a campaign that should have a workflow, or should have had one until its last recipient was skipped. */
export interface OpenCampaign extends CampaignStart {
  cancelled: boolean;
}

/**
 * Campaigns of all projects that are SCHEDULED, SENDING or PAUSED, or were cancelled lately, and were handed to
 * Temporal; in the order of their ids.
 */
export async function listOpenCampaigns(
  db: Db,
  p: { after: string | undefined; limit: number },
): Promise<OpenCampaign[]> {
  const { rows } = await sql<OpenCampaign>`
    SELECT project_id AS "projectId", id AS "campaignId", send_no AS "sendNo", status = 'CANCELLED' AS cancelled FROM campaigns c
    WHERE (status IN ${OPEN_CAMPAIGNS}
        OR (status = 'CANCELLED' AND cancelled_at > now() - make_interval(days => ${CANCELLED_DAYS})
          AND EXISTS (SELECT FROM emails e WHERE e.campaign_id = c.id AND e.status IN ${OPEN_RECIPIENTS})))
      AND ${p.after === undefined ? sql`true` : sql`id > ${p.after}`}
      AND NOT EXISTS (SELECT FROM outbox o WHERE o.kind = 'campaign.start' AND o.ref_id = c.id)
    ORDER BY id LIMIT ${p.limit}
  `.execute(db);
  return rows;
}

/** Pauses a start that Temporal has as over: the ledger may have forgotten recipients who got it. Nothing when it has ended meanwhile. */
export async function pauseRestored(trx: Trx, { projectId, campaignId: id, sendNo }: CampaignStart): Promise<void> {
  await awaitClaims(trx, { projectId, id });
  await sql`
    UPDATE campaigns SET status = 'PAUSED', paused_reason = coalesce(paused_reason, 'database_restored'),
      started_at = coalesce(started_at, now()), updated_at = now()
    WHERE project_id = ${projectId} AND id = ${id} AND send_no = ${sendNo} AND status IN ${OPEN_CAMPAIGNS}
  `.execute(trx);
}

/**
 * Queues starts once more: what is sent stays sent by the ledger, what is left is sent, and of a cancelled one skipped.
 */
export function enqueueCampaigns(trx: Trx, starts: CampaignStart[]): Promise<OutboxRow[]> {
  return enqueue(
    trx,
    starts.map(({ projectId, campaignId, sendNo }) => ({
      projectId,
      kind: 'campaign.start' as const,
      refId: campaignId,
      payload: { sendNo },
    })),
  );
}

/**
 * Cancels a start whose workflow was ended in Temporal, as `POST /campaigns/{id}/cancel` does. Nobody is there to skip
 * whom it had not reached, so a workflow is started that finds it cancelled and does only that. Nothing when it has
 * ended meanwhile, or was begun anew.
 */
export async function cancelStopped(trx: Trx, start: CampaignStart): Promise<OutboxRow[]> {
  const { projectId, campaignId: id, sendNo } = start;
  await awaitClaims(trx, { projectId, id });
  const { rows } = await sql`
    SELECT 1 FROM campaigns WHERE project_id = ${projectId} AND id = ${id} AND send_no = ${sendNo}
      AND status IN ${OPEN_CAMPAIGNS} FOR UPDATE
  `.execute(trx);
  if (rows.length === 0) return [];
  const { campaign, outbox } = await cancelCampaign(trx, { projectId, id });
  return campaign.status === 'CANCELLED' ? [...outbox, ...(await enqueueCampaigns(trx, [start]))] : outbox;
}
