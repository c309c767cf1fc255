import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AudienceType } from '../../rules/campaigns/campaign.ts';
import { AppError } from '../../rules/errors.ts';
import type { Condition } from '../../rules/filters/filters.ts';
import type { Db, Trx } from '../connection.ts';
import { monthIsFull, monthlyRoom, openMonth, takeMonthlyAllowance } from '../projects/usage.ts';
import type { RowOf } from '../schema/database.ts';
import { compileCondition } from '../segments/filter-sql.ts';
import { loadSegmentSources } from '../segments/sources.ts';
import { inSavepoint } from '../transaction.ts';
import { type DealtCampaign, insertDealtPage, type PageChunk } from './dealt-page.ts';
import { BEGUN_CAMPAIGNS } from './status.ts';
import { isTesting } from './variant-test.ts';

/**
 * Contacts of one page, which become one chunk: at full speed a sender needs about a third of a second for them, far more than Temporal
 * needs to hand over the next chunk, and a campaign of 100,000 has 20 of them to share among the workers.
 */
export const PAGE_CONTACTS = 5_000;

/** Which page to take; `contacts` for one of another size than `PAGE_CONTACTS`. */
interface PageRequest {
  projectId: string;
  campaignId: string;
  sendNo: number;
  contacts?: number;
}

/** Whom a campaign is for, as its row says. */
export interface Audience {
  projectId: string;
  type: AudienceType;
  segmentId: string | null;
  filter: Condition | null;
}

/** What one page came to. `done`: the audience is taken whole. `stopped`: the campaign is no longer this start's to send. */
export type AudiencePage = ({ outcome: 'taken'; done: boolean } & TakenSoFar) | { outcome: 'stopped' };

/** Of the whole campaign. */
interface TakenSoFar {
  recipients: number;
  /** The highest chunk that may be sent. */
  lastSeq: number;
  /** Some wait for the winner of its test, or will; absent where it has no test. */
  testing?: boolean;
}

/** Whether a campaign would reach anybody now. */
export async function audienceExists(db: Db, audience: Audience): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`
    SELECT EXISTS (SELECT FROM contacts WHERE ${await audiencePredicate(db, audience)}) AS exists
  `.execute(db);
  return rows[0]?.exists ?? false;
}

/**
 * Takes the next page of the audience into the ledger, in the order of contact ids, and makes it a chunk. Rows, chunk and cursor move
 * in one transaction, so a crash repeats a page whole or not at all, and the unique (campaign_id, contact_id) is the last word.
 * A contact who leaves the audience later is judged when the mail is about to leave (db/campaigns/ledger.ts). Source: contract §6.3.
 */
export async function takeAudiencePage(trx: Trx, p: PageRequest): Promise<AudiencePage> {
  const campaign = await lockSending(trx, p);
  if (!campaign) return { outcome: 'stopped' };
  if (campaign.audience_done) return { outcome: 'taken', done: true, ...(await takenSoFar(trx, p)) };
  const predicate = pagePredicate(await audiencePredicate(trx, toAudience(p.projectId, campaign)), campaign);
  const page = await takeRows(trx, p, campaign, predicate);
  await sql`
    UPDATE campaigns SET audience_cursor = ${page.cursor}, audience_done = ${page.done}
    WHERE project_id = ${p.projectId} AND id = ${p.campaignId}
  `.execute(trx);
  for (const chunk of page.chunks) await insertChunk(trx, p, chunk);
  const taken = await takenSoFar(trx, p);
  // Last, because the month's row is what every send of the project waits for.
  const room = await takeAllowance(trx, p.projectId, campaign, page.recipients);
  if (room < page.recipients) await skipBeyond(trx, p, page, room);
  return { outcome: 'taken', done: page.done, ...taken };
}

/**
 * To be called before pages of a live campaign are taken, outside of their transactions: the month's row is counted without the pages'
 * recipients, and nobody waits while it is.
 */
export async function openMonthOf(db: Db, p: { projectId: string; campaignId: string }): Promise<void> {
  const { rows } = await sql<{ limited: boolean }>`
    SELECT p.effective_monthly_email_limit IS NOT NULL AND c.mode = 'live' AS limited
    FROM campaigns c JOIN projects p ON p.id = c.project_id WHERE c.project_id = ${p.projectId} AND c.id = ${p.campaignId}
  `.execute(db);
  if (rows[0]?.limited) await openMonth(db, p.projectId);
}

/** The WHERE of `contacts`: the project's subscribed contacts that the audience means. */
async function audiencePredicate(db: Db, audience: Audience): Promise<RawBuilder<SqlBool>> {
  const { projectId } = audience;
  const condition = audienceCondition(audience);
  const ours = sql<SqlBool>`contacts.project_id = ${projectId} AND contacts.subscribed`;
  if (!condition) return ours;
  const segments = await loadSegmentSources(db, projectId, condition);
  return sql<SqlBool>`${ours} AND (${compileCondition(condition, { projectId, now: new Date(), segments })})`;
}

function audienceCondition({ type, segmentId, filter }: Audience): Condition | undefined {
  if (type === 'ALL') return undefined;
  if (type === 'FILTERED' && filter) return filter;
  if (type === 'SEGMENT' && segmentId) {
    return { logic: 'AND', groups: [{ filters: [{ field: `segment.${segmentId}`, operator: 'memberOf' }] }] };
  }
  // Deleting a segment empties the drafts that named it.
  throw new AppError('CONFLICT', { message: 'The campaign names no audience: its segment or filter is missing.' });
}

/** The contacts of the audience that come after the cursor. */
function pagePredicate(predicate: RawBuilder<SqlBool>, { audience_cursor: cursor }: CampaignRow): RawBuilder<SqlBool> {
  return cursor === null ? predicate : sql<SqlBool>`${predicate} AND contacts.id > ${cursor}::uuid`;
}

const LOCKED = [
  'audience_type',
  'segment_id',
  'audience_filter',
  'audience_cursor',
  'audience_done',
  'content_id',
  'mode',
  'variants',
  'variant_test',
  'variant_content_ids',
  'winner',
] as const;

type CampaignRow = RowOf<'campaigns', typeof LOCKED> & {
  content_id: string;
  monthly_email_limit: number | null;
};

function toAudience(projectId: string, row: CampaignRow): Audience {
  return { projectId, type: row.audience_type, segmentId: row.segment_id, filter: row.audience_filter };
}

/** Holds the campaign for the page: a cancel waits for it, or was first and nothing is taken. */
async function lockSending(
  trx: Trx,
  p: { projectId: string; campaignId: string; sendNo: number },
): Promise<CampaignRow | undefined> {
  const { rows } = await sql<CampaignRow>`
    SELECT ${sql.raw(LOCKED.map((name) => `c.${name}`).join(', '))},
      p.effective_monthly_email_limit AS monthly_email_limit
    FROM campaigns c JOIN projects p ON p.id = c.project_id
    WHERE c.project_id = ${p.projectId} AND c.id = ${p.campaignId} AND c.status IN ${BEGUN_CAMPAIGNS} AND c.send_no = ${p.sendNo}
      AND c.content_id IS NOT NULL
    FOR NO KEY UPDATE OF c
  `.execute(trx);
  return rows[0];
}

async function takenSoFar(trx: Trx, p: { projectId: string; campaignId: string }): Promise<TakenSoFar> {
  const { rows } = await sql<{ recipients: number; lastSeq: number }>`
    SELECT coalesce(sum(size), 0)::int AS recipients, greatest(max(seq), 0) AS "lastSeq"
    FROM campaign_chunks WHERE campaign_id = ${p.campaignId}
  `.execute(trx);
  const testing = await isTesting(trx, p);
  return { ...(rows[0] ?? { recipients: 0, lastSeq: 0 }), ...(testing !== undefined && { testing }) };
}

interface Page {
  recipients: number;
  /** In the order of their ids. */
  chunks: PageChunk[];
  cursor: string | null;
  done: boolean;
}

/**
 * A page's rows as if none of them could be there, because the cursor moves with them: to look for each one first costs a third more. Should
 * one be there all the same, the page is taken again with a look.
 */
async function takeRows(
  trx: Trx,
  p: PageRequest,
  campaign: CampaignRow,
  predicate: RawBuilder<SqlBool>,
): Promise<Page> {
  try {
    return await inSavepoint(trx, () => insertPage(trx, p, { campaign, predicate, present: sql`` }));
  } catch (error) {
    if (!isTwice(error)) throw error;
    const present = sql`ON CONFLICT (campaign_id, contact_id) WHERE campaign_id IS NOT NULL DO NOTHING`;
    return insertPage(trx, p, { campaign, predicate, present });
  }
}

function isTwice(error: unknown): boolean {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return code === '23505' && constraint === 'emails_campaign_contact';
}

/** INSERT … SELECT: 6 µs a row and none of it in Node. uuidv7() grows within a session, so a page's ids are one range. */
async function insertPage(
  trx: Trx,
  p: PageRequest,
  how: { campaign: CampaignRow; predicate: RawBuilder<SqlBool>; present: RawBuilder<unknown> },
): Promise<Page> {
  const { campaign, predicate, present } = how;
  const { contacts = PAGE_CONTACTS } = p;
  if (campaign.variants && campaign.variant_content_ids) {
    const { chunks, seen, cursor } = await insertDealtPage(trx, {
      ...p,
      ...how,
      campaign: campaign as DealtCampaign,
      contacts,
    });
    const recipients = chunks.reduce((sum, chunk) => sum + chunk.size, 0);
    return { recipients, chunks, cursor: cursor ?? campaign.audience_cursor, done: seen < contacts };
  }
  const { rows } = await sql<{
    recipients: number;
    first: string | null;
    last: string | null;
    seen: number;
    cursor: string | null;
  }>`
    WITH page AS MATERIALIZED (
      SELECT contacts.id FROM contacts WHERE ${predicate} ORDER BY contacts.id LIMIT ${contacts}
    ), taken AS (
      INSERT INTO emails (project_id, contact_id, content_id, campaign_id, source_type, mode)
      SELECT ${p.projectId}::uuid, page.id, ${campaign.content_id}::uuid, ${p.campaignId}::uuid, 'CAMPAIGN', ${campaign.mode}
      FROM page ORDER BY page.id
      ${present}
      RETURNING id
    )
    SELECT (SELECT count(*) FROM taken) AS recipients, (SELECT id FROM taken ORDER BY id LIMIT 1) AS first,
      (SELECT id FROM taken ORDER BY id DESC LIMIT 1) AS last, (SELECT count(*) FROM page) AS seen,
      (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS cursor
  `.execute(trx);
  const row = rows[0];
  if (!row) throw new Error('the page of an audience came to nothing');
  const { recipients: size, first, last } = row;
  const chunks = first === null || last === null ? [] : [{ first, last, size, variant: null, rest: false }];
  return { recipients: size, chunks, cursor: row.cursor ?? campaign.audience_cursor, done: row.seen < contacts };
}

/**
 * Gives a page's rows to a chunk. Chunks must not overlap, or two lanes would own a row: should the clock of the host have gone back
 * since the last page, this fails, and the page is tried again until it has caught up.
 */
async function insertChunk(trx: Trx, p: { projectId: string; campaignId: string }, chunk: PageChunk): Promise<void> {
  const { first, last, size, variant, rest } = chunk;
  const waits = rest && variant === null;
  const seq = waits ? sql`least(min(seq), 0) - 1` : sql`greatest(max(seq), 0) + 1`;
  const { rows } = await sql`
    INSERT INTO campaign_chunks (campaign_id, seq, project_id, first_id, last_id, size, variant, rest)
    SELECT ${p.campaignId}, ${seq}, ${p.projectId}, ${first}, ${last}, ${size}, ${variant}, ${rest}
    FROM campaign_chunks WHERE campaign_id = ${p.campaignId}
    HAVING NOT coalesce(bool_or(last_id >= ${first}::uuid), false)
    RETURNING seq
  `.execute(trx);
  if (rows.length === 0)
    throw new Error('the ids of a page begin before those of the page before it: the clock went back');
}

/** Takes the page from the month's allowance; returns for how many recipients it is enough. A month that is full is not even locked. */
async function takeAllowance(
  trx: Trx,
  projectId: string,
  { mode, monthly_email_limit: limit }: CampaignRow,
  n: number,
): Promise<number> {
  if (limit === null || mode === 'test') return n;
  if (await takeMonthlyAllowance(trx, { projectId, n, limit })) return n;
  if (await monthIsFull(trx, { projectId, limit })) return 0;
  const room = Math.min(n, await monthlyRoom(trx, { projectId, limit }));
  return room > 0 && (await takeMonthlyAllowance(trx, { projectId, n: room, limit })) ? room : 0;
}

/** Recipients of a page that the month has no room for; those who wait for the winner come last. */
async function skipBeyond(
  trx: Trx,
  p: { projectId: string; campaignId: string },
  { chunks }: Page,
  room: number,
): Promise<void> {
  await sql`
    UPDATE emails SET status = 'FAILED', reason = 'limit_reached'
    WHERE id IN (
      SELECT id FROM emails
      WHERE project_id = ${p.projectId} AND campaign_id = ${p.campaignId} AND id BETWEEN ${chunks[0]?.first} AND ${chunks.at(-1)?.last}
      ORDER BY id OFFSET ${room})
  `.execute(trx);
}
