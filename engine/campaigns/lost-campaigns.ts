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
 * For this many days after a cancellation, recovery checks that a workflow has skipped the remaining recipients. The
 * check misses a campaign if no worker ran in all these days.
 */
const CANCELLED_DAYS = 2;

/**
 * A campaign start that should have a Temporal workflow. `cancelled`: the workflow only has to skip the remaining
 * recipients.
 */
export interface OpenCampaign extends CampaignStart {
  cancelled: boolean;
}

/**
 * Lists campaigns of all projects whose start is no longer in the outbox, so Temporal should have a workflow for each.
 * The campaigns are SCHEDULED, SENDING or PAUSED, or were cancelled recently and still have open recipients. The list
 * is ordered by id.
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

/**
 * Pauses a campaign after Postgres was restored from a backup, because the campaign's ledger may not list all
 * recipients who got the email. Does nothing if the campaign has ended or was started again in the meantime.
 */
export async function pauseRestoredCampaign(
  trx: Trx,
  { projectId, campaignId: id, sendNo }: CampaignStart,
): Promise<void> {
  await awaitClaims(trx, { projectId, id });
  await sql`
    UPDATE campaigns SET status = 'PAUSED', paused_reason = coalesce(paused_reason, 'database_restored'),
      started_at = coalesce(started_at, now()), updated_at = now()
    WHERE project_id = ${projectId} AND id = ${id} AND send_no = ${sendNo} AND status IN ${OPEN_CAMPAIGNS}
  `.execute(trx);
}

/**
 * Queues the starts of campaigns again. Emails that the ledger lists as sent are not sent again. The other emails are
 * sent, or skipped if the campaign was cancelled.
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
 * Cancels a campaign after an operator has terminated its workflow in Temporal. The effect is the same as of
 * `POST /campaigns/{id}/cancel`. The terminated workflow cannot skip the remaining recipients, so a new workflow is
 * started to skip them. Does nothing when the campaign has ended or was started again in the meantime.
 */
export async function cancelTerminatedCampaign(trx: Trx, start: CampaignStart): Promise<OutboxRow[]> {
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
