import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { RecipientOutcome } from '../../rules/campaigns/outcomes.ts';
import { decodeIdCursor, encodeCursor } from '../../rules/cursor.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import type { EmailStatus } from '../../rules/emails/email-status.ts';
import { REASONS } from '../../rules/emails/reasons.ts';
import type { Db } from '../connection.ts';
import type { Page, PageRequest } from '../keyset.ts';
import type { CampaignRef } from './campaigns.ts';
import { notBeforeOf } from './chunk-clock.ts';
import { ofCampaign } from './ledger.ts';
import { OUTCOME_OF_E } from './outcomes.ts';

/** One recipient of a campaign: its row of the ledger. `email` is null once the contact is deleted. */
export interface Recipient {
  id: string;
  contactId: string | null;
  email: string | null;
  status: EmailStatus;
  reason: string | null;
  error: string | null;
  attempts: number;
  /** The name of the variant that it gets; null where the campaign has none, and before the winner is known. */
  variant: string | null;
  /** It waits until then, by its own clocks or a window. */
  notBefore: Date | null;
  sentAt: Date | null;
  deliveredAt: Date | null;
  openedAt: Date | null;
  clickedAt: Date | null;
  bouncedAt: Date | null;
  unsubscribedAt: Date | null;
}

export interface RecipientFilter {
  statuses?: EmailStatus[] | undefined;
  reasons?: string[] | undefined;
  /** Those whom the stats count under this name. */
  outcome?: RecipientOutcome | undefined;
  /** A part of the address, in any case. */
  search?: string | undefined;
}

type Request = CampaignRef & RecipientFilter;

/** A stretch of the ledger that chunks own, both ends included. */
interface Stretch {
  first: string;
  last: string;
}

/**
 * How long a page is looked for. What a filter finds seldom among a million is found over several pages, each answered
 * in time, the cursor going on where the one before ended.
 */
const PAGE_MS = 30;
/** A filter's matches are counted where that reads no more than this. */
const COUNTED_MAX = 20_000;
/** Rows of an export that are in memory at a time. */
export const EXPORT_ROWS = 1_000;
/** Statuses that have a reason, always. */
const WITH_REASON: readonly EmailStatus[] = ['FAILED', 'BOUNCED'];
const WITH_REASON_OUTCOMES: readonly RecipientOutcome[] = ['failed', 'skipped'];
/** Statuses that no row of a chunk has which is done. */
const OPEN: readonly EmailStatus[] = ['PENDING', 'SENDING', 'HELD'];

/**
 * Recipients newest first, those skipped too. `total` is counted on the first page only, and 0 after it; null where
 * counting would read a large campaign as a whole. A page may hold fewer than `limit` while `hasMore`.
 */
export async function listRecipients(
  db: Db,
  p: Request & PageRequest,
): Promise<Page<Recipient> & { total: number | null }> {
  const before = p.cursor === undefined ? null : decodeIdCursor(p.cursor);
  const page = await findRecipients(db, { ...p, before, limit: p.limit, untilMs: Date.now() + PAGE_MS });
  return { ...page, total: p.cursor === undefined ? await countRecipients(db, p) : 0 };
}

/** The next rows of an export, at most `EXPORT_ROWS`; fewer say nothing, `cursor` null is the end. */
export function exportRecipients(db: Db, p: Request & { cursor: string | undefined }): Promise<Page<Recipient>> {
  const before = p.cursor === undefined ? null : decodeIdCursor(p.cursor);
  return findRecipients(db, { ...p, before, limit: EXPORT_ROWS, untilMs: Date.now() + PAGE_MS });
}

type Search = Request & { before: string | null; limit: number; untilMs: number };

async function findRecipients(db: Db, p: Search): Promise<Page<Recipient>> {
  const reasons = indexedReasons(p);
  if (reasons) return pageOf(await byReasons(db, p, reasons), p.limit, null);
  const stretches = await listStretches(db, p);
  const found: Recipient[] = [];
  for (const [n, stretch] of stretches.entries()) {
    found.push(...(await inStretch(db, p, { stretch, limit: p.limit + 1 - found.length })));
    if (found.length > p.limit) break;
    const isLast = n === stretches.length - 1;
    if (!isLast && Date.now() >= p.untilMs) return pageOf(found, p.limit, stretch.first);
  }
  return pageOf(found, p.limit, null);
}

/** `lookedTo`: the search ended at this row with more to look through; null when it saw all that the page needs. */
function pageOf(found: Recipient[], limit: number, lookedTo: string | null): Page<Recipient> {
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1)?.id : lookedTo;
  return { items, cursor: last ? encodeCursor([last]) : null, hasMore: Boolean(last) };
}

/**
 * The reasons that a filter means, where the index on them finds it: each is read from its end, however seldom it is.
 */
function indexedReasons({ statuses, reasons, outcome, search }: RecipientFilter): readonly string[] | undefined {
  if (search) return undefined;
  if (reasons) return reasons;
  if (outcome && WITH_REASON_OUTCOMES.includes(outcome)) return REASONS;
  if (!statuses?.every((status) => WITH_REASON.includes(status))) return undefined;
  return statuses.includes('FAILED') ? REASONS : REASONS.filter((reason) => reason.startsWith('bounced:'));
}

async function byReasons(db: Db, p: Search, reasons: readonly string[]): Promise<Recipient[]> {
  const { rows } = await sql<Recipient>`
    SELECT ${COLUMNS} FROM unnest(${[...new Set(reasons)]}::text[]) AS r (reason) CROSS JOIN LATERAL (
      SELECT * FROM emails e
      WHERE e.campaign_id = ${p.id} AND e.reason = r.reason AND e.project_id = ${p.projectId}
        AND ${before(p, sql`e.id`)} AND ${hasStatus(p)} AND ${hasOutcome(p)}
      ORDER BY e.id DESC LIMIT ${p.limit + 1}) e
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    ORDER BY e.id DESC LIMIT ${p.limit + 1}
  `.execute(db);
  return rows;
}

async function inStretch(db: Db, p: Search, how: { stretch: Stretch; limit: number }): Promise<Recipient[]> {
  const { first, last } = how.stretch;
  const { rows } = await sql<Recipient>`
    SELECT ${COLUMNS} FROM (
      SELECT e.* FROM emails e
      WHERE e.project_id = ${p.projectId} AND e.id BETWEEN ${first}::uuid AND ${last}::uuid
        AND ${ofCampaign(sql`e.campaign_id`, { campaignId: p.id })} AND ${before(p, sql`e.id`)} AND ${matches(p)}
      ORDER BY e.id DESC LIMIT ${how.limit}) e
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    ORDER BY e.id DESC
  `.execute(db);
  return rows;
}

/**
 * Newest first: by their ids, since chunks that wait for a winner are numbered later. Rows that are open stand in
 * chunks that are not done.
 */
async function listStretches(db: Db, p: Search): Promise<Stretch[]> {
  const waits = p.outcome === 'pending' || p.statuses?.every((status) => OPEN.includes(status));
  const open = waits ? sql`done_at IS NULL` : sql`true`;
  const { rows } = await sql<Stretch>`
    SELECT first_id AS first, last_id AS last FROM campaign_chunks
    WHERE campaign_id = ${p.id} AND project_id = ${p.projectId} AND ${before(p, sql`first_id`)} AND ${open}
    ORDER BY first_id DESC
  `.execute(db);
  return rows;
}

async function countRecipients(db: Db, p: Request): Promise<number | null> {
  const { rows } = await sql<{ total: number }>`
    SELECT coalesce(sum(size), 0)::int AS total FROM campaign_chunks WHERE campaign_id = ${p.id} AND project_id = ${p.projectId}
  `.execute(db);
  const all = rows[0]?.total ?? 0;
  if (!p.statuses && !p.reasons && !p.outcome && !p.search) return all;
  if (all > COUNTED_MAX) return null;
  const counted = await sql<{ total: number }>`
    SELECT count(*) AS total FROM emails e WHERE e.project_id = ${p.projectId} AND e.campaign_id = ${p.id} AND ${matches(p)}
  `.execute(db);
  return counted.rows[0]?.total ?? 0;
}

function matches(p: RecipientFilter): RawBuilder<SqlBool> {
  const ofReason = p.reasons ? sql<SqlBool>`e.reason = ANY(${p.reasons}::text[])` : sql<SqlBool>`true`;
  return sql<SqlBool>`${hasStatus(p)} AND ${ofReason} AND ${hasOutcome(p)} AND ${hasAddress(p)}`;
}

function hasStatus({ statuses }: RecipientFilter): RawBuilder<SqlBool> {
  return statuses ? sql<SqlBool>`e.status = ANY(${statuses}::text[])` : sql<SqlBool>`true`;
}

function hasOutcome({ outcome }: RecipientFilter): RawBuilder<SqlBool> {
  return outcome ? OUTCOME_OF_E[outcome] : sql<SqlBool>`true`;
}

function hasAddress({ search }: RecipientFilter): RawBuilder<SqlBool> {
  if (!search) return sql<SqlBool>`true`;
  const part = `%${normalizeEmail(search).replaceAll(/[\\%_]/g, '\\$&')}%`;
  // The contact is asked only of whom nothing was sent to yet.
  return sql<SqlBool>`CASE WHEN e.to_email IS NOT NULL THEN e.to_email LIKE ${part} ELSE EXISTS (
    SELECT FROM contacts c WHERE c.id = e.contact_id AND c.project_id = e.project_id AND c.email LIKE ${part}) END`;
}

function before({ before: id }: Search, column: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return id === null ? sql<SqlBool>`true` : sql<SqlBool>`${column} < ${id}::uuid`;
}

/** The address as it was sent to; before that, as the contact has it. */
const COLUMNS = sql`e.id, e.contact_id AS "contactId", CASE WHEN e.contact_id IS NOT NULL THEN coalesce(e.to_email, c.email) END AS email, e.status,
  e.reason, e.error, e.attempts, e.sent_at AS "sentAt", e.delivered_at AS "deliveredAt", e.opened_at AS "openedAt",
  e.clicked_at AS "clickedAt", e.bounced_at AS "bouncedAt", e.unsubscribed_at AS "unsubscribedAt",
  CASE WHEN e.variant IS NOT NULL THEN (SELECT k.variants->e.variant->>'name' FROM campaigns k WHERE k.id = e.campaign_id) END AS variant,
  ${notBeforeOf('e')} AS "notBefore"`;
