import { type RawBuilder, sql } from 'kysely';
import { audiencePredicate, takeCampaignAllowance } from '../../db/campaigns/audience.ts';
import {
  CAMPAIGN_COLUMNS_OF_C,
  type CampaignRef,
  type CampaignRow,
  createRefusalError,
  listVariantTexts,
  lockCampaign,
  toCampaign,
} from '../../db/campaigns/campaigns.ts';
import type { Trx } from '../../db/connection.ts';
import { assertSender } from '../../db/domains/senders.ts';
import { FAILED_EMAIL_SQL } from '../../db/emails/failed-emails.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { RetryableReason } from '../../rules/campaigns/retry.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { ReadVersion } from '../../rules/record-version.ts';

/** The number of recipients that one transaction queues again. Such a transaction takes a few hundred milliseconds. */
export const RETRY_ROWS = 10_000;

/**
 * Queues at most `RETRY_ROWS` FAILED recipients of a campaign again. Their rows keep their ids, and therefore their
 * Message-ID. The usual checks just before sending decide whether each recipient may get the email. A SENT campaign
 * becomes SENDING with a new start; a SENDING or PAUSED campaign keeps its start. Recipients that exceeded the monthly
 * limit are queued as far as the limit now allows. Recipients who are no longer in the audience stay FAILED with the
 * reason `left_audience`. Safe to run twice.
 * @returns the number of queued recipients, and of recipients who left the audience. Call this function until both
 * numbers are smaller than `RETRY_ROWS`
 * @throws AppError NOT_FOUND, CONFLICT if the campaign is not SENDING, PAUSED or SENT, or has changed since it was read,
 * DOMAIN_NOT_VERIFIED if the domain of the campaign's or a variant's sender is not verified
 */
export async function retryRecipients(
  trx: Trx,
  p: CampaignRef & { reasons: readonly RetryableReason[]; read?: ReadVersion | undefined },
): Promise<{ requeued: number; left: number; outbox: OutboxRow[] }> {
  if (p.read) await lockCampaign(trx, p, p.read);
  const campaign = await lockRetryable(trx, p);
  const left = await markLeftAudience(trx, p, campaign);
  const allowance = p.reasons.includes('limit_reached') ? await takeMonthlyAllowanceForRetry(trx, p, campaign) : 0;
  const otherReasons = p.reasons.filter((reason) => reason !== 'limit_reached');
  const requeued =
    (await requeue(trx, p, { reasons: ['limit_reached'], limit: allowance })) +
    (await requeue(trx, p, { reasons: otherReasons, limit: RETRY_ROWS - allowance }));
  if (requeued === 0) return { requeued, left, outbox: [] };
  for (const { from } of listVariantTexts(toCampaign(campaign)))
    await assertSender(trx, { projectId: p.projectId, from });
  return { requeued, left, outbox: campaign.status === 'SENT' ? await startAgain(trx, p) : [] };
}

type RetryableCampaign = CampaignRow & { mode: KeyMode; monthly_email_limit: number | null };

/**
 * Locks the campaign until the commit. A transaction that marks the campaign as SENT needs the same lock. That
 * transaction has therefore either committed earlier, or it sees the recipients that this transaction queues.
 */
async function lockRetryable(trx: Trx, p: CampaignRef): Promise<RetryableCampaign> {
  const { rows } = await sql<RetryableCampaign>`
    SELECT ${CAMPAIGN_COLUMNS_OF_C}, c.mode, p.effective_monthly_email_limit AS monthly_email_limit
    FROM campaigns c JOIN projects p ON p.id = c.project_id
    WHERE c.project_id = ${p.projectId} AND c.id = ${p.id} AND c.status IN ('SENDING', 'PAUSED', 'SENT') FOR UPDATE OF c
  `.execute(trx);
  if (!rows[0]) {
    throw await createRefusalError(trx, p, {
      message: 'Only recipients of a campaign that is SENDING, PAUSED or SENT can be retried.',
      suggestion: 'Repeat the request after the campaign has started to send.',
    });
  }
  return rows[0];
}

/**
 * Sets the reason `left_audience` on at most `RETRY_ROWS` recipients who have left the campaign's segment or filter
 * since the campaign was sent. If the segment was deleted in the meantime, no recipient gets this reason.
 */
async function markLeftAudience(
  trx: Trx,
  p: CampaignRef & { reasons: readonly RetryableReason[] },
  campaign: RetryableCampaign,
): Promise<number> {
  const { audience_type: type, segment_id: segmentId, audience_filter: filter } = campaign;
  if ((type === 'SEGMENT' ? segmentId : filter) === null) return 0;
  const inAudience = await audiencePredicate(trx, { projectId: p.projectId, type, segmentId, filter });
  const { rows } = await sql<{ left: number }>`
    WITH gone AS (
      UPDATE emails SET ${FAILED_EMAIL_SQL}, reason = 'left_audience', error = NULL
      WHERE id IN (
        SELECT ${failedRecipientsSql(p, p.reasons)} AND NOT EXISTS (
          SELECT FROM contacts WHERE contacts.id = emails.contact_id AND ${inAudience}
        ) ORDER BY id LIMIT ${RETRY_ROWS})
      RETURNING id
    ), ends AS (
      SELECT (array_agg(id ORDER BY id))[1] AS first, (array_agg(id ORDER BY id DESC))[1] AS last FROM gone
    ), counted_again AS (
      UPDATE campaign_chunks k SET figures = NULL FROM ends
      WHERE k.campaign_id = ${p.id} AND k.project_id = ${p.projectId} AND k.last_id >= ends.first AND k.first_id <= ends.last
    )
    SELECT count(*)::int AS "left" FROM gone
  `.execute(trx);
  return rows[0]?.left ?? 0;
}

/**
 * Counts the retried recipients that failed because of the monthly limit towards the current month's limit. Returns the
 * number of these recipients that the limit allows. The other recipients were counted when the audience was stored.
 */
async function takeMonthlyAllowanceForRetry(trx: Trx, p: CampaignRef, campaign: RetryableCampaign): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    SELECT count(*) AS n FROM (SELECT ${failedRecipientsSql(p, ['limit_reached'])} LIMIT ${RETRY_ROWS}) e
  `.execute(trx);
  return takeCampaignAllowance(trx, { projectId: p.projectId, campaign, n: rows[0]?.n ?? 0 });
}

/**
 * Sets failed recipients back to PENDING and reopens their chunks. Clears the last error of each row, because a PENDING
 * row with an error counts as deferred.
 */
async function requeue(
  trx: Trx,
  p: CampaignRef,
  how: { reasons: readonly RetryableReason[]; limit: number },
): Promise<number> {
  if (how.limit === 0 || how.reasons.length === 0) return 0;
  const { rows } = await sql<{ requeued: number }>`
    WITH again AS (
      UPDATE emails SET status = 'PENDING', failed_at = NULL, reason = NULL, error = NULL, claim = NULL
      WHERE id IN (SELECT ${failedRecipientsSql(p, how.reasons)} ORDER BY id LIMIT ${how.limit})
      RETURNING id
    ), ends AS (
      SELECT (array_agg(id ORDER BY id))[1] AS first, (array_agg(id ORDER BY id DESC))[1] AS last FROM again
    ), opened AS (
      UPDATE campaign_chunks k SET done_at = NULL, figures = NULL FROM ends
      WHERE k.campaign_id = ${p.id} AND k.project_id = ${p.projectId} AND k.last_id >= ends.first AND k.first_id <= ends.last
    )
    SELECT count(*) AS requeued FROM again
  `.execute(trx);
  return rows[0]?.requeued ?? 0;
}

/**
 * Builds the SQL that selects the failed recipients to retry. The SQL uses the index on the reason. The selection
 * excludes emails that a provider accepted, and emails whose contact was erased.
 */
function failedRecipientsSql(p: CampaignRef, reasons: readonly RetryableReason[]): RawBuilder<unknown> {
  return sql`id FROM emails WHERE campaign_id = ${p.id} AND reason = ANY(${reasons}::text[]) AND project_id = ${p.projectId}
    AND status = 'FAILED' AND sent_at IS NULL AND contact_id IS NOT NULL`;
}

/**
 * Starts the campaign again with a new number (`send_no`). The workflow of the earlier start has ended, or will end
 * without changing the new start.
 */
async function startAgain(trx: Trx, p: CampaignRef): Promise<OutboxRow[]> {
  const { rows } = await sql<{ send_no: number }>`
    UPDATE campaigns SET status = 'SENDING', send_no = send_no + 1, sent_at = NULL, updated_at = now()
    WHERE project_id = ${p.projectId} AND id = ${p.id} RETURNING send_no
  `.execute(trx);
  return enqueue(
    trx,
    rows.map((row) => ({
      projectId: p.projectId,
      kind: 'campaign.start' as const,
      refId: p.id,
      payload: { sendNo: row.send_no },
    })),
  );
}
