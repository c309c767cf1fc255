import { type RawBuilder, sql } from 'kysely';
import { hasContactToCount, hasSubscribedContact } from '../../db/campaigns/audience.ts';
import {
  CAMPAIGN_COLUMNS,
  CAMPAIGN_COLUMNS_OF_C,
  type Campaign,
  type CampaignRef,
  type CampaignRefusal,
  type CampaignRow,
  type CampaignStart,
  createRefusalError,
  listVariantTexts,
  lockCampaign,
  toCampaign,
} from '../../db/campaigns/campaigns.ts';
import { CLOCK_KEY } from '../../db/campaigns/chunk-clock.ts';
import { awaitClaims } from '../../db/campaigns/claim-lock.ts';
import { findTestState } from '../../db/campaigns/testing.ts';
import type { Db, Trx } from '../../db/connection.ts';
import { saveContents } from '../../db/contents/contents.ts';
import { assertSender } from '../../db/domains/senders.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import { findDeletedRows } from '../../db/records/deleted-rows.ts';
import { BEGUN_CAMPAIGNS, isOpenCampaign, OPEN_CAMPAIGNS } from '../../db/schema/campaign-status.ts';
import { releaseSlots } from '../../db/sending/frequency.ts';
import { getRemainingMonthlyQuota } from '../../db/sending/monthly-usage.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { CampaignStatus, PausedReason } from '../../rules/campaigns/campaign.ts';
import type { CampaignTiming } from '../../rules/campaigns/timing.ts';
import { pickEmailText } from '../../rules/content/email-text.ts';
import { AppError } from '../../rules/errors.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { ReadVersion } from '../../rules/record-version.ts';
import { RowMissing } from '../../rules/row-missing.ts';

export interface ChangedCampaign {
  campaign: Campaign;
  /** The rows to pass to `outbox.wake` after the commit. */
  outbox: OutboxRow[];
}

/**
 * The state of a campaign's start, for its Temporal workflow. `waiting`: the scheduled time has not come. `paused`: the
 * campaign waits until it is resumed. `ended`: this start no longer sends the campaign. `clock`: a text that changes
 * with the timing settings (`CLOCK_KEY`).
 */
export type StartState =
  | { phase: 'waiting'; scheduledAt: string }
  /** `sendRate`: the project's limit of emails per second; null means none. Emails of a test key have no limit. */
  | {
      phase: 'sending' | 'paused';
      audienceDone: boolean;
      sendRate: number | null;
      mode: KeyMode;
      clock: string;
      /**
       * Set for a campaign with a test: whether recipients wait for the winner, and the highest number of a chunk that
       * may be sent.
       */
      test?: { testing: boolean; lastSeq: number };
    }
  | { phase: 'ended'; status: CampaignStatus };

/**
 * Starts a DRAFT now (`at` is null) or at the time `at`, or changes the time of a SCHEDULED campaign. If two calls run
 * at the same time, only one of them changes a DRAFT, because both lock its row. Without `mode`, the campaign keeps the
 * mode with which it was scheduled. Without `timing`, it keeps its timing. Source: contract §6.
 * @throws AppError NOT_FOUND, CONFLICT if the campaign is neither DRAFT nor SCHEDULED, DOMAIN_NOT_VERIFIED, BAD_REQUEST
 * for an empty audience, BILLING_LIMIT_EXCEEDED if a live campaign starts now and the monthly limit is reached
 */
export async function startCampaign(
  trx: Trx,
  p: CampaignRef & { at: Date | null; mode?: KeyMode; timing?: CampaignTiming },
): Promise<ChangedCampaign> {
  const { rows } = await sql<CampaignRow & { send_no: number; mode: string; was: CampaignStatus }>`
    UPDATE campaigns c SET status = ${p.at ? 'SCHEDULED' : 'SENDING'}, scheduled_at = ${p.at},
      started_at = ${p.at ? null : sql`now()`}, mode = coalesce(${p.mode ?? null}, c.mode), cancelled_at = NULL, updated_at = now(),
      ${p.timing ? sql`send_at_local = ${p.timing.sendAtLocal}, late_policy = ${p.timing.latePolicy},` : sql``}
      send_no = c.send_no + CASE WHEN old.status = 'DRAFT' THEN 1 ELSE 0 END
    FROM (SELECT id AS old_id, status FROM campaigns WHERE project_id = ${p.projectId} AND id = ${p.id} FOR UPDATE) old
    WHERE c.id = old.old_id AND old.status IN ('DRAFT', 'SCHEDULED')
    RETURNING ${CAMPAIGN_COLUMNS_OF_C}, c.send_no, c.mode, old.status AS was
  `.execute(trx);
  const row = rows[0];
  if (!row) {
    throw await createRefusalError(trx, p, {
      message: 'Only a campaign that is DRAFT or SCHEDULED can be sent.',
      suggestion: 'Copy it with POST /v1/campaigns/{id}/duplicate, and send the copy.',
    });
  }
  const campaign = toCampaign(row);
  for (const text of listVariantTexts(campaign)) await assertSender(trx, { projectId: p.projectId, from: text.from });
  await assertAudienceNotEmpty(trx, { projectId: p.projectId, campaign });
  if (p.at === null && row.mode === 'live') await assertMonthlyQuotaLeft(trx, { projectId: p.projectId, campaign });
  const start = { projectId: p.projectId, refId: p.id };
  const outbox = await enqueue(trx, [
    row.was === 'DRAFT'
      ? { ...start, kind: 'campaign.start', payload: { sendNo: row.send_no } }
      : { ...start, kind: 'campaign.changed', payload: { sendNo: row.send_no } },
  ]);
  return { campaign, outbox };
}

/**
 * Cancels a SCHEDULED, SENDING or PAUSED campaign. If no email of the campaign was ever attempted, the campaign becomes
 * a DRAFT again, and its recipients are deleted. Otherwise the campaign becomes CANCELLED, and its workflow skips the
 * remaining recipients. Each claim of emails holds the campaign's claim lock as a shared lock until its commit
 * (db/campaigns/claim-lock.ts). This function takes the claim lock exclusively. It therefore sees all earlier claims,
 * and no claim runs at the same time.
 * @throws AppError NOT_FOUND; CONFLICT if the campaign is not SCHEDULED, SENDING or PAUSED, or if it was changed after
 * the version `read`
 */
export async function cancelCampaign(
  trx: Trx,
  p: CampaignRef & { read?: ReadVersion | undefined },
): Promise<ChangedCampaign> {
  await awaitClaims(trx, p);
  await assertUnchanged(trx, p);
  const { rows } = await sql<{ send_no: number }>`
    SELECT send_no FROM campaigns
    WHERE project_id = ${p.projectId} AND id = ${p.id} AND status IN ${OPEN_CAMPAIGNS} FOR UPDATE
  `.execute(trx);
  const row = rows[0];
  if (!row) {
    throw await createRefusalError(trx, p, {
      message: 'Only a campaign that is SCHEDULED, SENDING or PAUSED can be cancelled.',
      suggestion: 'Nothing is left to cancel; GET /v1/campaigns/{id} shows its state.',
    });
  }
  const campaign = (await hasAnyAttempt(trx, p)) ? await markCancelled(trx, p) : await returnToDraft(trx, p);
  const outbox = await enqueue(trx, [
    {
      projectId: p.projectId,
      kind: 'campaign.changed',
      refId: p.id,
      payload: { sendNo: row.send_no },
    },
  ]);
  return { campaign, outbox };
}

/**
 * Pauses a SENDING campaign. Takes the campaign's claim lock exclusively (db/campaigns/claim-lock.ts), so no email is
 * claimed after this transaction commits. The workflow then gets a signal, and emails that are claimed but not yet
 * transmitted are released. A campaign that is already PAUSED keeps its first reason. With `sendNo`, only the start
 * with this number is paused.
 * @throws AppError NOT_FOUND; CONFLICT if the campaign is neither SENDING nor PAUSED, or if it was changed after the
 * version `read`
 */
export async function pauseCampaign(
  trx: Trx,
  p: CampaignRef & { reason: PausedReason; sendNo?: number; read?: ReadVersion | undefined },
): Promise<ChangedCampaign> {
  await awaitClaims(trx, p);
  await assertUnchanged(trx, p);
  const ofStart = p.sendNo === undefined ? sql`true` : sql`send_no = ${p.sendNo}`;
  return switchStatus(trx, p, {
    found: sql`status IN ${BEGUN_CAMPAIGNS} AND ${ofStart}`,
    to: 'PAUSED',
    reason: sql`coalesce(paused_reason, ${p.reason})`,
    refused: {
      message: 'Only a campaign that is SENDING can be paused.',
      suggestion: 'Cancel a SCHEDULED campaign instead with POST /v1/campaigns/{id}/cancel.',
    },
  });
}

/**
 * Resumes a PAUSED campaign. A campaign that is already SENDING does not change.
 * @throws AppError NOT_FOUND; CONFLICT if the campaign is neither PAUSED nor SENDING, or if it was changed after the
 * version `read`
 */
export async function resumeCampaign(
  trx: Trx,
  p: CampaignRef & { read?: ReadVersion | undefined },
): Promise<ChangedCampaign> {
  await assertUnchanged(trx, p);
  return switchStatus(trx, p, {
    found: sql`status IN ${BEGUN_CAMPAIGNS}`,
    to: 'SENDING',
    reason: sql`NULL`,
    refused: {
      message: 'Only a campaign that is PAUSED can be resumed.',
      suggestion: 'Start a DRAFT with POST /v1/campaigns/{id}/send; a campaign that has ended can be duplicated.',
    },
  });
}

/**
 * If the caller passes the version that it has read, locks the campaign and throws CONFLICT if the campaign has another
 * version.
 */
async function assertUnchanged(
  trx: Trx,
  { read, ...ref }: CampaignRef & { read?: ReadVersion | undefined },
): Promise<void> {
  if (read) await lockCampaign(trx, ref, read);
}

/**
 * Switches a campaign between SENDING and PAUSED. Locks the row with FOR UPDATE first. An UPDATE alone would not wait
 * for claims, which hold a FOR KEY SHARE lock on the row.
 */
async function switchStatus(
  trx: Trx,
  p: CampaignRef,
  how: { found: RawBuilder<unknown>; to: 'SENDING' | 'PAUSED'; reason: RawBuilder<unknown>; refused: CampaignRefusal },
): Promise<ChangedCampaign> {
  const { rows } = await sql<CampaignRow & { send_no: number; was: CampaignStatus }>`
    UPDATE campaigns c SET status = ${how.to}, paused_reason = ${how.reason},
      going_since = CASE WHEN old.status = 'PAUSED' AND ${how.to} = 'SENDING' THEN now() ELSE c.going_since END,
      updated_at = CASE WHEN old.status = ${how.to} THEN c.updated_at ELSE now() END
    FROM (SELECT id AS old_id, status FROM campaigns
      WHERE project_id = ${p.projectId} AND id = ${p.id} AND ${how.found} FOR UPDATE) old
    WHERE c.id = old.old_id RETURNING ${CAMPAIGN_COLUMNS_OF_C}, c.send_no, old.status AS was
  `.execute(trx);
  const row = rows[0];
  if (!row) throw await createRefusalError(trx, p, how.refused);
  const campaign = toCampaign(row);
  if (row.was === campaign.status) return { campaign, outbox: [] };
  const payload = { sendNo: row.send_no };
  const outbox = await enqueue(trx, [{ projectId: p.projectId, kind: 'campaign.changed', refId: p.id, payload }]);
  return { campaign, outbox };
}

/**
 * Reads the state of a start. The first call after the scheduled time moves the campaign to SENDING and stores its text
 * as rows of `contents`, so that later edits do not change the emails. Safe to run again at any time.
 */
export async function advanceStart(trx: Trx, p: CampaignStart): Promise<StartState> {
  const row = await lockStart(trx, p);
  if (!row) return { phase: 'ended', status: await findStatusAtDeletion(trx, p) };
  const isOpenStart = row.send_no === p.sendNo && isOpenCampaign(row.status);
  if (!isOpenStart) return { phase: 'ended', status: row.status };
  const campaign = toCampaign(row);
  if (row.status === 'SCHEDULED' && campaign.scheduledAt && !row.due) {
    return { phase: 'waiting', scheduledAt: campaign.scheduledAt.toISOString() };
  }
  if (row.content_id === null) await startSending(trx, p, campaign);
  const { audience_done: audienceDone, send_rate: sendRate, mode, clock } = row;
  const test = campaign.test ? await findTestState(trx, p) : undefined;
  const phase = row.status === 'PAUSED' ? 'paused' : 'sending';
  return { phase, audienceDone, sendRate, mode, clock, ...(test && { test }) };
}

/**
 * The result of a start. `OPEN`: the campaign is still SCHEDULED, SENDING or PAUSED by this start. `reason`: the code
 * that Temporal shows for a CANCELLED start.
 */
export type StartEnd = { status: 'SENT' } | { status: 'OPEN' } | { status: 'CANCELLED'; reason: StartCancelReason };

/** `campaign_draft`: the campaign became a DRAFT again, or has a later start. */
type StartCancelReason = 'cancelled' | 'campaign_draft' | 'campaign_deleted';

/**
 * Returns the result of a start for its Temporal workflow. If the campaign is a DRAFT again or has a later start, the
 * result is CANCELLED.
 * @throws RowMissing
 */
export async function findStartEnd(db: Db, p: CampaignStart): Promise<StartEnd> {
  const row = await db
    .selectFrom('campaigns')
    .select(['status', 'send_no'])
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.campaignId)
    .executeTakeFirst();
  const status = row?.status ?? (await findStatusAtDeletion(db, p));
  if (status === 'SENT') return { status };
  if (!row) return { status: 'CANCELLED', reason: 'campaign_deleted' };
  const isLast = row.send_no === p.sendNo;
  if (isLast && isOpenCampaign(row.status)) return { status: 'OPEN' };
  return { status: 'CANCELLED', reason: isLast && row.status === 'CANCELLED' ? 'cancelled' : 'campaign_draft' };
}

/**
 * Returns the status that a campaign had when it was deleted.
 * @throws RowMissing when no deletion is recorded
 */
async function findStatusAtDeletion(db: Db, { projectId, campaignId }: CampaignStart): Promise<CampaignStatus> {
  const deleted = (await findDeletedRows(db, { projectId, ids: [campaignId] })).get(campaignId);
  if (!deleted) throw new RowMissing('campaign', campaignId);
  return deleted.status as CampaignStatus;
}

/**
 * Marks a campaign as SENT when it has no more recipients to send to. A PAUSED campaign becomes SENT too, because a
 * resume would have nothing to send. Returns false while a recipient is left, or when the campaign was cancelled. Locks
 * the campaign's row first: a retry also locks the row, so this check sees the recipients that the retry queued
 * (engine/campaigns/retry.ts). Safe to run twice.
 */
export async function finishCampaign(trx: Trx, p: CampaignStart): Promise<boolean> {
  await sql`
    SELECT FROM campaigns WHERE project_id = ${p.projectId} AND id = ${p.campaignId} FOR NO KEY UPDATE
  `.execute(trx);
  const { rows } = await sql`
    UPDATE campaigns SET status = 'SENT', paused_reason = NULL, sent_at = coalesce(sent_at, now()), updated_at = now()
    WHERE project_id = ${p.projectId} AND id = ${p.campaignId} AND send_no = ${p.sendNo}
      AND status IN ('SENDING', 'PAUSED', 'SENT') AND audience_done
      AND NOT EXISTS (
        SELECT FROM emails e WHERE e.campaign_id = ${p.campaignId} AND e.status IN ('PENDING', 'SENDING', 'HELD'))
    RETURNING id
  `.execute(trx);
  return rows.length > 0;
}

/**
 * Wakes the workflows of a project's SENDING campaigns after its hold was released, so that they check for email to
 * send.
 */
export async function wakeCampaigns(trx: Trx, projectId: string): Promise<OutboxRow[]> {
  const { rows } = await sql<{ id: string; send_no: number }>`
    SELECT id, send_no FROM campaigns WHERE project_id = ${projectId} AND status = 'SENDING'
  `.execute(trx);
  return enqueue(
    trx,
    rows.map((row) => ({
      projectId,
      kind: 'campaign.changed',
      refId: row.id,
      payload: { sendNo: row.send_no },
    })),
  );
}

async function assertAudienceNotEmpty(trx: Trx, p: { projectId: string; campaign: Campaign }): Promise<void> {
  const { audienceType: type, segmentId, audienceFilter: filter } = p.campaign;
  if (await hasSubscribedContact(trx, { projectId: p.projectId, type, segmentId, filter })) return;
  throw new AppError('BAD_REQUEST', {
    message: 'The audience of this campaign is empty: it has no subscribed contact.',
    suggestion: 'Change the audience, or subscribe contacts who agreed to it.',
    details: { audienceType: type },
  });
}

/**
 * Refuses a start if the monthly limit is reached and at least one recipient counts toward it. Simulator addresses do
 * not count. Which recipients exceed the limit is decided later, when pages of the audience are stored
 * (db/campaigns/audience.ts).
 */
async function assertMonthlyQuotaLeft(
  trx: Trx,
  { projectId, campaign }: { projectId: string; campaign: Campaign },
): Promise<void> {
  const { rows } = await sql<{ limit: number | null }>`
    SELECT effective_monthly_email_limit AS limit FROM projects WHERE id = ${projectId}
  `.execute(trx);
  const limit = rows[0]?.limit ?? null;
  if (limit === null || (await getRemainingMonthlyQuota(trx, { projectId, limit })) > 0) return;
  const { audienceType: type, segmentId, audienceFilter: filter } = campaign;
  if (!(await hasContactToCount(trx, { projectId, type, segmentId, filter }))) return;
  throw new AppError('BILLING_LIMIT_EXCEEDED', { details: { monthlyEmailLimit: limit } });
}

/**
 * Tells whether any email of the campaign was ever claimed. A claimed email may have been sent, even if its worker was
 * killed before it recorded the result.
 */
async function hasAnyAttempt(trx: Trx, p: CampaignRef): Promise<boolean> {
  const { rows } = await sql<{ tried: boolean }>`
    SELECT EXISTS (SELECT FROM emails WHERE campaign_id = ${p.id} AND project_id = ${p.projectId} AND attempts > 0) AS tried
  `.execute(trx);
  return rows[0]?.tried ?? false;
}

async function markCancelled(trx: Trx, p: CampaignRef): Promise<Campaign> {
  const { rows } = await sql<CampaignRow>`
    UPDATE campaigns SET status = 'CANCELLED', paused_reason = NULL, cancelled_at = now(), updated_at = now()
    WHERE project_id = ${p.projectId} AND id = ${p.id} RETURNING ${CAMPAIGN_COLUMNS}
  `.execute(trx);
  return toCampaign(rows[0]);
}

async function returnToDraft(trx: Trx, p: CampaignRef): Promise<Campaign> {
  await releaseSlots(trx, { projectId: p.projectId, campaignId: p.id });
  await sql`DELETE FROM emails WHERE project_id = ${p.projectId} AND campaign_id = ${p.id}`.execute(trx);
  await sql`DELETE FROM campaign_chunks WHERE campaign_id = ${p.id}`.execute(trx);
  const { rows } = await sql<CampaignRow>`
    UPDATE campaigns SET status = 'DRAFT', paused_reason = NULL, scheduled_at = NULL, started_at = NULL, content_id = NULL,
      variant_content_ids = NULL, test_ends_at = NULL, winner = NULL, winner_by = NULL, winner_at = NULL,
      audience_cursor = NULL, audience_done = false, updated_at = now()
    WHERE project_id = ${p.projectId} AND id = ${p.id} RETURNING ${CAMPAIGN_COLUMNS}
  `.execute(trx);
  return toCampaign(rows[0]);
}

type StartRow = CampaignRow & {
  send_no: number;
  content_id: string | null;
  audience_done: boolean;
  due: boolean;
  mode: KeyMode;
  send_rate: number | null;
  clock: string;
};

async function lockStart(trx: Trx, p: CampaignStart): Promise<StartRow | undefined> {
  const { rows } = await sql<StartRow>`
    SELECT ${CAMPAIGN_COLUMNS}, send_no, content_id, audience_done, coalesce(scheduled_at <= now(), true) AS due, mode,
      (SELECT effective_send_rate_per_second FROM projects WHERE id = project_id) AS send_rate,
      (SELECT ${CLOCK_KEY} FROM projects p WHERE p.id = k.project_id) AS clock
    FROM campaigns k WHERE project_id = ${p.projectId} AND id = ${p.campaignId} FOR NO KEY UPDATE
  `.execute(trx);
  return rows[0];
}

/**
 * Moves a campaign to SENDING and stores its text. `going_since` decides which recipients are late. It is the time of
 * the request or of the schedule, because an outage until this call makes no recipient late.
 */
async function startSending(trx: Trx, p: CampaignStart, campaign: Campaign): Promise<void> {
  const { topicId } = campaign;
  const common = { projectId: p.projectId, type: 'MARKETING' as const, templateId: null, topicId };
  const contentIds = await saveContents(
    trx,
    listVariantTexts(campaign).map((text) => ({ ...pickEmailText(text), ...common })),
  );
  const ofVariants = campaign.variants ? contentIds : null;
  await sql`
    UPDATE campaigns SET status = CASE WHEN status = 'SCHEDULED' THEN 'SENDING' ELSE status END, content_id = ${contentIds[0]},
      variant_content_ids = ${ofVariants}::uuid[], started_at = coalesce(started_at, now()),
      going_since = greatest(going_since, coalesce(started_at, scheduled_at, now())), updated_at = now()
    WHERE project_id = ${p.projectId} AND id = ${p.campaignId}
  `.execute(trx);
}
