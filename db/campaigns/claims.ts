import { type RawBuilder, sql } from 'kysely';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import type { Db } from '../connection.ts';
import { isNotSuppressedSql, suppressionReasonSql } from '../contacts/suppressions.ts';
import { FAILED_EMAIL_SQL } from '../emails/failed-emails.ts';
import { type FrequencyCap, hasSlotSql, isCapUnchangedSql, takeSlotsSql } from '../sending/frequency.ts';
import { isOnTopicSql } from '../topics/contact-topics.ts';
import type { CampaignStart } from './campaigns.ts';
import { isGateOpenSql, type OpenGate } from './chunk-clock.ts';
import type { ChunkRef } from './chunks.ts';
import { SHARES_CLAIM_LOCK } from './claim-lock.ts';
import { isOfCampaignSql, OPEN_RECIPIENTS } from './recipient-rows.ts';

/** The range of a chunk's rows that one statement claims: the first and the last id, and the number of unsent rows. */
export interface LedgerRange {
  first: string;
  last: string;
  rows: number;
}

/** A recipient that this process has claimed and may send to now. */
export interface ClaimedRecipient {
  id: string;
  contactId: string;
  email: string;
  /**
   * Values of the requested variables, in the requested order: JSON values or undefined. Empty if the caller requested
   * all data.
   */
  values: unknown[];
  /** All data of the contact. Null unless the caller requested all data. */
  data: Record<string, unknown> | null;
  /**
   * Names of the data fields that an unauthenticated caller wrote. Values of such fields appear only as text, never as
   * a link target.
   */
  untrustedKeys: string[];
  attempts: number;
}

export interface ClaimRequest extends CampaignStart {
  claim: number;
  range: LedgerRange;
  /** The data fields that the email's text uses. `all` if the text has expressions that can use any field. */
  dataKeys: string[] | 'all';
  suppressionPads: KeyPads;
  /**
   * Variant and content of a chunk, written to its rows when they are claimed. Undefined if the campaign has no
   * variants.
   */
  assignedVariant?: { variant: number; contentId: string } | undefined;
  /** The project's send rate, as the caller has read it. If the rate has changed since, nothing is claimed. */
  sendRate: number | null;
  /** The project's frequency cap, as the caller has read it. If the cap has changed since, nothing is claimed. */
  frequencyCap?: FrequencyCap | null;
  /** The check of the chunk's local time and window. Nothing is claimed if the check is no longer valid. */
  clock: OpenGate;
}

/**
 * Returns the number of a new claim, for one attempt at a chunk. A result is recorded only while the row still has this
 * number.
 */
export async function nextClaimNumber(db: Db): Promise<number> {
  const { rows } = await sql<{ claim: number }>`SELECT nextval('claims') AS claim`.execute(db);
  if (!rows[0]) throw new Error('the sequence "claims" returned no number');
  return rows[0].claim;
}

/**
 * Lists the unsent rows of a chunk in ranges of `size` rows, starting at the row `from`. A row that is still SENDING
 * belongs to an attempt whose process was killed before it recorded a result. The email is sent again with the same
 * Message-ID, because no recipient may be skipped.
 */
export async function listUnsentRanges(
  db: Db,
  p: ChunkRef & { size: number; from: string | undefined },
): Promise<LedgerRange[]> {
  const size = sql`${p.size}::int`;
  const { rows } = await sql<LedgerRange>`
    WITH open AS (
      SELECT e.id, row_number() OVER (ORDER BY e.id) - 1 AS n, count(*) OVER () AS total
      FROM campaign_chunks k JOIN emails e ON e.project_id = k.project_id AND e.id BETWEEN greatest(k.first_id, ${p.from ?? null}::uuid) AND k.last_id
      WHERE k.campaign_id = ${p.campaignId} AND k.project_id = ${p.projectId} AND k.seq = ${p.seq}
        AND ${isOfCampaignSql(sql`e.campaign_id`, p)} AND e.status IN ${OPEN_RECIPIENTS}
    ), edges AS (
      SELECT id, n, total, lead(id) OVER (ORDER BY id) AS next FROM open WHERE n % ${size} IN (0, ${size} - 1) OR n = total - 1
    )
    SELECT id AS first, CASE WHEN ${size} = 1 OR n = total - 1 THEN id ELSE next END AS last, least(${size}, total - n) AS rows
    FROM edges WHERE n % ${size} = 0 ORDER BY n
  `.execute(db);
  return rows;
}

/**
 * Claims a range of rows. The same statement reads consent, suppressions and variables, so they are current. The
 * statement locks the campaign's row until the commit, so a cancellation either sees these claims or prevents them. The
 * lock is FOR KEY SHARE, so pages of the audience can be inserted at the same time. Recipients who may not get the
 * email are not changed here; `skipWithheldRecipients` marks them. No indexed column changes (docs/decisions.md),
 * except for recipients who waited for the winner, so Postgres can use heap-only updates.
 */
export async function claimRange(db: Db, p: ClaimRequest): Promise<ClaimedRecipient[]> {
  const cap = p.frequencyCap ?? null;
  const claimable = sql<boolean>`
    EXISTS (SELECT FROM start)
      AND e.project_id = ${p.projectId} AND e.id BETWEEN ${p.range.first} AND ${p.range.last}
      AND ${isOfCampaignSql(sql`e.campaign_id`, p)} AND e.status IN ${OPEN_RECIPIENTS}
      AND c.id = e.contact_id AND c.project_id = ${p.projectId} AND c.subscribed AND ${canReceiveMarketing(p)}
      AND ((SELECT topic_id FROM start) IS NULL OR ${isOnTopicSql({ contact: sql`c.id`, topic: sql`(SELECT topic_id FROM start)` })})`;
  const wanted = sql`SELECT e.contact_id, ARRAY[e.id] AS ids FROM emails e, contacts c WHERE ${claimable}`;
  const slots = cap ? sql`, slots AS (${takeSlotsSql({ projectId: p.projectId, cap, wanted })})` : sql``;
  // The array is built only once. A join would search all slots for each row.
  const granted = sql`ARRAY(SELECT s.wanted[1] FROM slots s WHERE ${hasSlotSql(sql`s.mails`, sql`s.wanted[1]`)})`;
  const capped = cap ? sql`AND e.id = ANY(${granted})` : sql``;
  const { rows } = await sql<ClaimRow>`
    WITH start AS MATERIALIZED (
      SELECT k.id, k.topic_id FROM campaigns k JOIN projects p ON p.id = k.project_id
      WHERE k.project_id = ${p.projectId} AND k.id = ${p.campaignId} AND k.send_no = ${p.sendNo} AND k.status = 'SENDING'
        AND (p.effective_held_at IS NULL OR k.mode = 'test') AND p.effective_send_rate_per_second IS NOT DISTINCT FROM ${p.sendRate}::int
        AND (k.mode = 'test' OR ${isCapUnchangedSql(cap)})
        AND ${isGateOpenSql(p.clock)} AND ${SHARES_CLAIM_LOCK}
      FOR KEY SHARE OF k
    )${slots}
    UPDATE emails e SET status = 'SENDING', attempts = e.attempts + 1, claim = ${p.claim}, to_email = c.email ${variantAssignments(p)}
    FROM contacts c
    WHERE ${claimable} ${capped}
    RETURNING e.id, e.contact_id, c.email, e.attempts, nullif(c.untrusted_keys, '{}') AS untrusted_keys, ${valueColumns(p.dataKeys)}
  `.execute(db);
  const count = p.dataKeys === 'all' ? 0 : p.dataKeys.length;
  return rows.map((row) => toRecipient(row, count));
}

/**
 * Marks the recipients of a range who may not get the email as skipped, with the reason. Returns the number of skipped
 * recipients. Safe to run twice.
 */
export async function skipWithheldRecipients(db: Db, p: ClaimRequest): Promise<number> {
  const why = suppressionReasonSql({
    pads: p.suppressionPads,
    email: sql`c.email`,
    projectId: p.projectId,
    type: 'MARKETING',
  });
  const onTopic = isOnTopicSql({ contact: sql`c.id`, topic: sql`k.topic_id` });
  const result = await sql`
    UPDATE emails e SET ${FAILED_EMAIL_SQL}, reason = r.reason
    FROM (
      SELECT m.id, CASE WHEN c.id IS NULL THEN 'contact_deleted' WHEN NOT c.subscribed AND c.pending THEN 'unconfirmed' WHEN NOT c.subscribed THEN 'unsubscribed'
        ELSE coalesce('suppressed:' || (${why}), CASE WHEN NOT ${onTopic} THEN 'unsubscribed:topic' END,
          CASE WHEN NOT ${hasSlotSql(sql`s.mails`, sql`m.id`)} THEN 'frequency_capped' END) END AS reason
      FROM emails m JOIN campaigns k ON k.id = ${p.campaignId} AND k.project_id = m.project_id
      LEFT JOIN contacts c ON c.id = m.contact_id AND c.project_id = m.project_id
      LEFT JOIN frequency_slots s ON s.contact_id = m.contact_id AND s.project_id = m.project_id AND ${p.frequencyCap != null}
      WHERE m.project_id = ${p.projectId} AND m.id BETWEEN ${p.range.first} AND ${p.range.last}
        AND ${isOfCampaignSql(sql`m.campaign_id`, p)} AND m.status IN ${OPEN_RECIPIENTS} AND m.claim IS DISTINCT FROM ${p.claim}) r
    WHERE e.id = r.id AND r.reason IS NOT NULL AND e.status IN ${OPEN_RECIPIENTS} AND e.claim IS DISTINCT FROM ${p.claim}
      AND EXISTS (
        SELECT FROM campaigns WHERE project_id = ${p.projectId} AND id = ${p.campaignId} AND send_no = ${p.sendNo} AND status = 'SENDING')
  `.execute(db);
  return Number(result.numAffectedRows ?? 0n);
}

/** Releases claimed recipients that were not attempted, as if they had not been claimed. Safe to run twice. */
export async function releaseClaims(db: Db, p: { ids: string[]; claim: number }): Promise<void> {
  if (p.ids.length === 0) return;
  await sql`
    UPDATE emails SET status = 'PENDING', attempts = attempts - 1
    WHERE id = ANY(${p.ids}::uuid[]) AND claim = ${p.claim} AND status = 'SENDING'
  `.execute(db);
}

/**
 * Returns the assignments that set the variant of claimed rows. Recipients who waited for the winner get their variant
 * here. For other rows the values do not change, so their updates stay heap-only.
 */
function variantAssignments({ assignedVariant }: ClaimRequest): RawBuilder<unknown> {
  return assignedVariant
    ? sql`, variant = ${assignedVariant.variant}::smallint, content_id = ${assignedVariant.contentId}::uuid`
    : sql``;
}

/**
 * Returns the SQL condition that the recipient is not suppressed. Most projects have no suppressions, which Postgres
 * finds out once per statement and not per row.
 */
function canReceiveMarketing(p: ClaimRequest): RawBuilder<boolean> {
  const allowed = isNotSuppressedSql({
    pads: p.suppressionPads,
    email: sql`c.email`,
    projectId: p.projectId,
    type: 'MARKETING',
  });
  return sql<boolean>`(NOT EXISTS (SELECT FROM suppressions WHERE project_id = ${p.projectId}) OR ${allowed})`;
}

/** Selects only the fields that the email's text uses, because a contact can have 64 KB of data. */
function valueColumns(dataKeys: string[] | 'all'): RawBuilder<unknown> {
  if (dataKeys === 'all') return sql`c.data`;
  const columns = dataKeys.map((key, n) => sql`c.data->${key}::text AS ${sql.ref(`v${n}`)}`);
  return sql.join([sql`NULL AS data`, ...columns]);
}

interface ClaimRow {
  [value: `v${number}`]: unknown;
  id: string;
  contact_id: string;
  email: string;
  attempts: number;
  untrusted_keys: string[] | null;
  data: Record<string, unknown> | null;
}

const NO_KEYS: string[] = [];

function toRecipient(row: ClaimRow, values: number): ClaimedRecipient {
  return {
    id: row.id,
    contactId: row.contact_id,
    email: row.email,
    values: Array.from({ length: values }, (_, n) => row[`v${n}`] ?? undefined),
    data: row.data,
    untrustedKeys: row.untrusted_keys ?? NO_KEYS,
    attempts: row.attempts,
  };
}
