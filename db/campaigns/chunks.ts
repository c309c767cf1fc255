import { type RawBuilder, sql } from 'kysely';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import type { Reason } from '../../rules/emails/reasons.ts';
import type { Db } from '../connection.ts';
import { FAILED_EMAIL_SQL } from '../emails/failed-emails.ts';
import { BEGUN_CAMPAIGNS, OPEN_CAMPAIGNS } from '../schema/campaign-status.ts';
import { type FrequencyCap, readFrequencyCap } from '../sending/frequency.ts';
import type { CampaignStart } from './campaigns.ts';
import { isOfCampaignSql, OPEN_RECIPIENTS } from './recipient-rows.ts';

/** A chunk of a campaign start. Only one lane sends to the recipients of a chunk. */
export interface ChunkRef extends CampaignStart {
  seq: number;
}

/**
 * The settings that one turn of a chunk uses. A turn is one run of the activity that sends the chunk. Each turn reads
 * the settings again.
 */
export interface SendTerms {
  /**
   * Content of the chunk's variant if the caller passed `seq` and the chunk has a variant; otherwise the campaign's
   * content.
   */
  contentId: string;
  /** Variant of the chunk. Null if the campaign has no variants, or the caller passed no `seq`. */
  variant: number | null;
  mode: KeyMode;
  /** True if the campaign is PAUSED, so nothing may be claimed. */
  paused: boolean;
  /** True if the project is on hold and the campaign is live. */
  held: boolean;
  /** The project's limit of emails per second. */
  sendRate: number | null;
  /** The project's frequency cap. Null if the project has no cap, and for a campaign in test mode. */
  frequencyCap: FrequencyCap | null;
  tracking: 'ENABLED' | 'MARKETING_ONLY' | 'DISABLED';
  /** The project's time zone, used to format dates. */
  timezone: string;
  /** The verified domain of the sender address. Null if the domain is no longer verified. */
  senderDomain: { id: string; domain: string; signing: boolean; returnPathHost?: string | null } | null;
}

/** Reads the settings that a turn needs. Undefined if this start no longer sends the campaign. */
export async function findSendSettings(db: Db, p: CampaignStart & { seq?: number }): Promise<SendTerms | undefined> {
  const { rows } = await sql<TermsRow>`
    SELECT k.id AS content_id, v.variant, c.mode, c.status = 'PAUSED' AS paused, p.effective_held_at IS NOT NULL AND c.mode = 'live' AS held,
      p.effective_send_rate_per_second AS send_rate_per_second, p.frequency_max, p.frequency_days, p.tracking, p.timezone, d.id AS domain_id, d.domain, d.signing,
      d.found->>'returnPathHost' AS return_path_host
    FROM campaigns c
    JOIN projects p ON p.id = c.project_id
    LEFT JOIN campaign_chunks v ON v.campaign_id = c.id AND v.seq = ${p.seq ?? null}::int
    JOIN contents k ON k.id = coalesce(c.variant_content_ids[v.variant + 1], c.content_id) AND k.project_id = c.project_id
    LEFT JOIN domains d ON d.project_id = c.project_id AND d.status = 'VERIFIED'
      AND d.domain = lower(substring(k.from_email FROM '@([^@]*)$'))
    WHERE c.project_id = ${p.projectId} AND c.id = ${p.campaignId} AND c.send_no = ${p.sendNo} AND c.status IN ${BEGUN_CAMPAIGNS}
  `.execute(db);
  return rows[0] && toTerms(rows[0]);
}

/** Reopens at most `limit` chunks that have unsent recipients. Returns the chunks' numbers. */
export async function reopenChunks(db: Db, p: CampaignStart & { limit: number }): Promise<number[]> {
  const { rows } = await sql<{ seq: number }>`
    UPDATE campaign_chunks k SET done_at = NULL
    WHERE k.campaign_id = ${p.campaignId} AND k.project_id = ${p.projectId} AND k.seq IN (
      SELECT o.seq FROM campaign_chunks o
      WHERE o.campaign_id = ${p.campaignId} AND o.seq > 0 AND EXISTS (
        SELECT FROM emails e WHERE e.project_id = o.project_id AND e.id BETWEEN o.first_id AND o.last_id
          AND ${isOfCampaignSql(sql`e.campaign_id`, p)} AND e.status IN ${OPEN_RECIPIENTS})
      ORDER BY o.seq LIMIT ${p.limit})
    RETURNING k.seq
  `.execute(db);
  return rows.map((row) => row.seq).sort((a, b) => a - b);
}

/**
 * Sets the remaining recipients of a chunk to HELD, because the project is on hold. These recipients are claimed again
 * after the release.
 */
export async function holdChunk(db: Db, p: ChunkRef): Promise<number> {
  return endOpenRows(db, p, { set: sql`status = 'HELD'`, from: sql`('PENDING', 'SENDING')` });
}

/**
 * Marks all remaining recipients of a chunk as failed, for a reason that concerns the whole chunk: the sender is not
 * verified, or the local send time has passed.
 */
export async function failChunk(db: Db, p: ChunkRef & { reason: Reason }): Promise<number> {
  return endOpenRows(db, p, { set: sql`${FAILED_EMAIL_SQL}, reason = ${p.reason}`, from: OPEN_RECIPIENTS });
}

/**
 * Marks only the deferred recipients of a chunk as failed, with the reason `expired`. For live email, does nothing
 * while the project is on hold, because recipients wait during a hold.
 */
export async function failDeferredRecipients(db: Db, p: ChunkRef): Promise<number> {
  return endOpenRows(db, p, {
    set: sql`${FAILED_EMAIL_SQL}, reason = 'expired'`,
    from: OPEN_RECIPIENTS,
    where: sql`e.attempts > 0 AND e.error IS NOT NULL AND NOT EXISTS (
      SELECT FROM projects WHERE id = ${p.projectId} AND effective_held_at IS NOT NULL AND e.mode = 'live')`,
  });
}

/** Marks a chunk as done if it has no unsent recipients. Returns whether it is done. */
export async function finishChunk(db: Db, p: ChunkRef): Promise<boolean> {
  const { rows } = await sql`
    UPDATE campaign_chunks k SET done_at = coalesce(done_at, now())
    WHERE k.campaign_id = ${p.campaignId} AND k.project_id = ${p.projectId} AND k.seq = ${p.seq}
      AND NOT EXISTS (
        SELECT FROM emails e WHERE e.project_id = k.project_id AND e.id BETWEEN k.first_id AND k.last_id
          AND ${isOfCampaignSql(sql`e.campaign_id`, p)} AND e.status IN ${OPEN_RECIPIENTS})
    RETURNING seq
  `.execute(db);
  return rows.length > 0;
}

/**
 * Skips the remaining recipients of a cancelled start, at most `limit` rows per call. Returns the number of skipped
 * recipients. Does nothing while the campaign is SCHEDULED, SENDING or PAUSED, or if it was started again.
 */
export async function skipCancelledRecipients(db: Db, p: CampaignStart & { limit: number }): Promise<number> {
  const result = await sql`
    UPDATE emails SET ${FAILED_EMAIL_SQL}, reason = 'cancelled', claim = NULL
    WHERE id IN (
      SELECT id FROM emails WHERE campaign_id = ${p.campaignId} AND project_id = ${p.projectId} AND status IN ${OPEN_RECIPIENTS}
      LIMIT ${p.limit})
      AND NOT EXISTS (
        SELECT FROM campaigns WHERE id = ${p.campaignId} AND project_id = ${p.projectId}
          AND (status IN ${OPEN_CAMPAIGNS} OR send_no > ${p.sendNo}))
  `.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

/**
 * Changes the emails of a chunk that have one of the statuses `from`, if this start of the campaign is SENDING. Locks
 * the campaign's row as a claim does. Clears the claim of the emails, so that results of workers that are still sending
 * are ignored.
 */
async function endOpenRows(
  db: Db,
  p: ChunkRef,
  {
    set,
    from,
    where = sql`true`,
  }: { set: RawBuilder<unknown>; from: RawBuilder<unknown>; where?: RawBuilder<unknown> },
): Promise<number> {
  const result = await sql`
    WITH start AS MATERIALIZED (
      SELECT id FROM campaigns
      WHERE project_id = ${p.projectId} AND id = ${p.campaignId} AND send_no = ${p.sendNo} AND status = 'SENDING' FOR KEY SHARE
    )
    UPDATE emails e SET ${set}, claim = NULL
    FROM campaign_chunks k
    WHERE EXISTS (SELECT FROM start)
      AND k.campaign_id = ${p.campaignId} AND k.project_id = ${p.projectId} AND k.seq = ${p.seq}
      AND e.project_id = ${p.projectId} AND e.id BETWEEN k.first_id AND k.last_id
      AND ${isOfCampaignSql(sql`e.campaign_id`, p)} AND e.status IN ${from} AND ${where}
  `.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

interface TermsRow {
  content_id: string;
  variant: number | null;
  mode: KeyMode;
  paused: boolean;
  held: boolean;
  send_rate_per_second: number | null;
  frequency_max: number | null;
  frequency_days: number | null;
  tracking: SendTerms['tracking'];
  timezone: string;
  domain_id: string | null;
  domain: string | null;
  signing: boolean | null;
  return_path_host: string | null;
}

function toTerms(row: TermsRow): SendTerms {
  const { domain_id: id, domain, signing } = row;
  return {
    contentId: row.content_id,
    variant: row.variant,
    mode: row.mode,
    paused: row.paused,
    held: row.held,
    sendRate: row.send_rate_per_second,
    frequencyCap: row.mode === 'test' ? null : readFrequencyCap(row),
    tracking: row.tracking,
    timezone: row.timezone,
    senderDomain:
      id === null || domain === null
        ? null
        : { id, domain, signing: signing ?? true, returnPathHost: row.return_path_host },
  };
}
