import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { RecipientOutcome } from '../../rules/campaigns/outcomes.ts';
import { decodePosition, encodePosition, type RecipientPosition } from '../../rules/campaigns/recipient-position.ts';
import { decodeIdCursor } from '../../rules/cursor.ts';
import type { EmailStatus } from '../../rules/emails/email-status.ts';
import { REASONS } from '../../rules/emails/reasons.ts';
import type { Db } from '../connection.ts';
import type { Page, PageRequest } from '../keyset.ts';
import type { CampaignRef } from './campaigns.ts';
import {
  type CampaignRecipientRow,
  hasOutcomeSql,
  hasStatusSql,
  isOfCampaignSql,
  matchesFilterSql,
  RECIPIENT_COLUMNS,
  type RecipientFilter,
} from './recipient-rows.ts';
import { canFindByAddress, findRecipientsByAddress, isNotFoundByAddressSql } from './recipients-by-address.ts';

type Request = CampaignRef & RecipientFilter;

/** The ids of the first and the last recipient of a chunk, and the size of the chunk. */
interface IdRange {
  first: string;
  last: string;
  size: number;
}

/**
 * Time limit for reading one page. If few of a million recipients match, the matches are found over several pages. Each
 * page stops at the limit, and the cursor continues where the previous page stopped.
 */
const PAGE_MS = 50;
/**
 * The number of rows that every page reads, even after its time limit. Reading this many rows takes a few milliseconds,
 * and a small campaign has no more rows.
 */
const READ_ROWS_MIN = 5_000;
/** Matches are counted only if the count reads at most this many rows. */
const COUNTED_MAX = 20_000;
/** The maximum number of rows of an export that are in memory. */
export const EXPORT_ROWS = 1_000;
/** Statuses that always have a reason. */
const WITH_REASON: readonly EmailStatus[] = ['FAILED', 'BOUNCED'];
const WITH_REASON_OUTCOMES: readonly RecipientOutcome[] = ['failed', 'skipped'];
/** Statuses that rows cannot have after their chunk is done. */
const OPEN: readonly EmailStatus[] = ['PENDING', 'SENDING', 'HELD'];

/**
 * Lists recipients newest first, including skipped ones. A search in a large campaign first lists recipients whose
 * address starts with the text, ordered by address, if an index can find them. `total` is counted only on the first
 * page and is 0 on later pages; it is null if counting would read a whole large campaign. A page with `hasMore` may
 * have fewer items than `limit`.
 */
export async function listRecipients(
  db: Db,
  p: Request & PageRequest,
): Promise<Page<CampaignRecipientRow> & { total: number | null }> {
  const asked = { ...p, untilMs: Date.now() + PAGE_MS };
  if (p.cursor !== undefined) return { ...(await findFromPosition(db, asked, decodePosition(p.cursor))), total: 0 };
  const all = await countAll(db, p);
  const parts = all > COUNTED_MAX && (await canFindByAddress(db, p));
  const page = await findFromPosition(
    db,
    asked,
    parts ? { part: 'address', after: null } : { part: 'all', before: null },
  );
  return { ...page, total: await countRecipients(db, p, all) };
}

/**
 * Returns the next rows of an export, at most `EXPORT_ROWS`. The export has ended when `cursor` is null, not when there
 * are fewer rows.
 */
export function exportRecipients(
  db: Db,
  p: Request & { cursor: string | undefined },
): Promise<Page<CampaignRecipientRow>> {
  const before = p.cursor === undefined ? null : decodeIdCursor(p.cursor);
  return findRecipients(db, { ...p, part: 'all', before, limit: EXPORT_ROWS, untilMs: Date.now() + PAGE_MS });
}

type Asked = Request & { limit: number; untilMs: number };
type Search = Asked & Exclude<RecipientPosition, { part: 'address' }>;

async function findFromPosition(db: Db, p: Asked, position: RecipientPosition): Promise<Page<CampaignRecipientRow>> {
  if (position.part !== 'address') return findRecipients(db, { ...p, ...position });
  const { items, goesOn } = await findRecipientsByAddress(db, { ...p, after: position.after });
  if (goesOn !== null) return cutPageAt(items, { part: 'address', after: goesOn });
  const rest = { part: 'rest', before: null } as const;
  if (items.length === p.limit) return cutPageAt(items, rest);
  const page = await findRecipients(db, { ...p, ...rest, limit: p.limit - items.length });
  return { ...page, items: [...items, ...page.items] };
}

function cutPageAt(items: CampaignRecipientRow[], position: RecipientPosition): Page<CampaignRecipientRow> {
  return { items, cursor: encodePosition(position), hasMore: true };
}

async function findRecipients(db: Db, p: Search): Promise<Page<CampaignRecipientRow>> {
  const reasons = reasonsForIndex(p);
  if (reasons) return toRecipientPage(await findByReasons(db, p, reasons), p);
  const ranges = await listIdRanges(db, p);
  const meant = p.part === 'rest' ? await isNotFoundByAddressSql(db, p, matchesFilterSql(p)) : matchesFilterSql(p);
  const found: CampaignRecipientRow[] = [];
  let [slowestMs, rowsRead] = [0, 0];
  for (const [n, range] of ranges.entries()) {
    const from = Date.now();
    found.push(...(await findInRange(db, p, { range, meant, limit: p.limit + 1 - found.length })));
    if (found.length > p.limit) break;
    slowestMs = Math.max(slowestMs, Date.now() - from);
    rowsRead += range.size;
    const isLast = n === ranges.length - 1;
    // Stops if the page would exceed its time limit, assuming that the next range takes as long as the slowest range so
    // far.
    const late = rowsRead >= READ_ROWS_MIN && Date.now() + slowestMs >= p.untilMs;
    if (!isLast && late) return cutPageAt(found, { part: p.part, before: range.first });
  }
  return toRecipientPage(found, p);
}

/** Builds a page after all rows were read, or after more matches were found than fit on the page. */
function toRecipientPage(found: CampaignRecipientRow[], { limit, part }: Search): Page<CampaignRecipientRow> {
  if (found.length <= limit) return { items: found, cursor: null, hasMore: false };
  const items = found.slice(0, limit);
  return cutPageAt(items, { part, before: items.at(-1)?.id ?? null });
}

/**
 * Returns the reasons to search for if the query can use the index on reasons; otherwise undefined. The index finds
 * rare reasons quickly.
 */
function reasonsForIndex({ statuses, reasons, outcome, search }: RecipientFilter): readonly string[] | undefined {
  if (search) return undefined;
  if (reasons) return reasons;
  if (outcome && WITH_REASON_OUTCOMES.includes(outcome)) return REASONS;
  if (!statuses?.every((status) => WITH_REASON.includes(status))) return undefined;
  return statuses.includes('FAILED') ? REASONS : REASONS.filter((reason) => reason.startsWith('bounced:'));
}

async function findByReasons(db: Db, p: Search, reasons: readonly string[]): Promise<CampaignRecipientRow[]> {
  const { rows } = await sql<CampaignRecipientRow>`
    SELECT ${RECIPIENT_COLUMNS} FROM unnest(${[...new Set(reasons)]}::text[]) AS r (reason) CROSS JOIN LATERAL (
      SELECT * FROM emails e
      WHERE e.campaign_id = ${p.id} AND e.reason = r.reason AND e.project_id = ${p.projectId}
        AND ${isBeforeId(p, sql`e.id`)} AND ${hasStatusSql(p)} AND ${hasOutcomeSql(p)}
      ORDER BY e.id DESC LIMIT ${p.limit + 1}) e
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    ORDER BY e.id DESC LIMIT ${p.limit + 1}
  `.execute(db);
  return rows;
}

async function findInRange(
  db: Db,
  p: Search,
  how: { range: IdRange; meant: RawBuilder<SqlBool>; limit: number },
): Promise<CampaignRecipientRow[]> {
  const { first, last } = how.range;
  const { rows } = await sql<CampaignRecipientRow>`
    SELECT ${RECIPIENT_COLUMNS} FROM (
      SELECT e.* FROM emails e
      WHERE e.project_id = ${p.projectId} AND e.id BETWEEN ${first}::uuid AND ${last}::uuid
        AND ${isOfCampaignSql(sql`e.campaign_id`, { campaignId: p.id })} AND ${isBeforeId(p, sql`e.id`)} AND ${how.meant}
      ORDER BY e.id DESC LIMIT ${how.limit}) e
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    ORDER BY e.id DESC
  `.execute(db);
  return rows;
}

/**
 * Lists the ranges of the chunks, newest first. Orders by ids and not by chunk number, because chunks that wait for a
 * winner get their numbers later. If the filter selects only open rows, chunks that are done are skipped.
 */
async function listIdRanges(db: Db, p: Search): Promise<IdRange[]> {
  const waits = p.outcome === 'pending' || p.statuses?.every((status) => OPEN.includes(status));
  const open = waits ? sql`done_at IS NULL` : sql`true`;
  const { rows } = await sql<IdRange>`
    SELECT first_id AS first, last_id AS last, size FROM campaign_chunks
    WHERE campaign_id = ${p.id} AND project_id = ${p.projectId} AND ${isBeforeId(p, sql`first_id`)} AND ${open}
    ORDER BY first_id DESC
  `.execute(db);
  return rows;
}

async function countAll(db: Db, p: Request): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    SELECT coalesce(sum(size), 0)::int AS total FROM campaign_chunks WHERE campaign_id = ${p.id} AND project_id = ${p.projectId}
  `.execute(db);
  return rows[0]?.total ?? 0;
}

async function countRecipients(db: Db, p: Request, all: number): Promise<number | null> {
  if (!p.statuses && !p.reasons && !p.outcome && !p.search) return all;
  if (all > COUNTED_MAX) return null;
  const counted = await sql<{ total: number }>`
    SELECT count(*) AS total FROM emails e WHERE e.project_id = ${p.projectId} AND e.campaign_id = ${p.id} AND ${matchesFilterSql(p)}
  `.execute(db);
  return counted.rows[0]?.total ?? 0;
}

function isBeforeId({ before: id }: Search, column: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return id === null ? sql<SqlBool>`true` : sql<SqlBool>`${column} < ${id}::uuid`;
}
