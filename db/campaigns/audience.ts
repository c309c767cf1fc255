import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AudienceType } from '../../rules/campaigns/campaign.ts';
import { dependsOnRecipientZone } from '../../rules/campaigns/gate.ts';
import type { KeyPads } from '../../rules/emails/suppression.ts';
import { AppError } from '../../rules/errors.ts';
import type { Condition } from '../../rules/filters/filters.ts';
import type { SendingWindow } from '../../rules/time/sending-window.ts';
import type { Db, Trx } from '../connection.ts';
import { FAILED_EMAIL_SQL } from '../emails/failed-emails.ts';
import { BEGUN_CAMPAIGNS } from '../schema/campaign-status.ts';
import type { RowOf } from '../schema/database.ts';
import { compileCondition } from '../segments/filter-sql.ts';
import { loadConditionSources } from '../segments/sources.ts';
import {
  createMonthRow,
  getRemainingMonthlyQuota,
  isMonthlyLimitReached,
  takeMonthlyAllowance,
} from '../sending/monthly-usage.ts';
import { isSimulatorSql } from '../sending/simulator-addresses.ts';
import { inSavepoint } from '../transaction.ts';
import { EFFECTIVE_WINDOW } from './chunk-clock.ts';
import { type CampaignWithVariants, insertPageWithVariants, type PageChunk } from './page-with-variants.ts';
import { isTesting } from './testing.ts';
import { withheldReasonSql } from './withheld.ts';
import {
  checkedPageSql,
  findPageZones,
  type PageZones,
  ZONED_PAGE_CONTACTS,
  type ZonedChunk,
  zonedChunksSql,
} from './zoned-pages.ts';

/**
 * The maximum number of recipients in a chunk, and of contacts in a page whose recipients are not divided by time zone.
 * Sending a full chunk at full speed takes about 300 ms, far longer than Temporal needs to start the activity of the
 * next chunk.
 */
export const PAGE_CONTACTS = 5_000;
/**
 * The number of contacts in the first page. The first page is small: its rows are written quickly, so sending starts
 * early, and the other pages are written while the first one is sent. Unless recipients are divided by time zone, the
 * pages of the next two rounds have the same size. Then the size doubles with each round until it reaches
 * `PAGE_CONTACTS`. In a campaign with 2,000 or more contacts, a chunk therefore has at most about a third of the
 * recipients, and several workers share the campaign.
 */
const FIRST_PAGE_CONTACTS = 500;

/**
 * The page to insert. `round` is the number of the workflow's call of `takeCampaignAudience`, from 0. One call inserts
 * one or more pages. Without `round`, pages have their full size.
 */
interface PageRequest {
  projectId: string;
  campaignId: string;
  sendNo: number;
  round?: number | undefined;
  suppressionPads: KeyPads;
}

/** The audience of a campaign, as the columns of its row define it. */
export interface Audience {
  projectId: string;
  type: AudienceType;
  segmentId: string | null;
  filter: Condition | null;
}

/** Result of one page. `done`: the whole audience has been read. `stopped`: this start no longer sends the campaign. */
export type AudiencePage = ({ outcome: 'taken'; done: boolean } & TakenSoFar) | { outcome: 'stopped' };

/** Totals of the whole campaign. */
interface TakenSoFar {
  recipients: number;
  /** The highest number of a chunk that may be sent. */
  lastSeq: number;
  /**
   * True if some recipients wait for the winner of the test, or will wait for it. Absent if the campaign has no test.
   */
  testing?: boolean;
}

/** Tells whether the audience has a subscribed contact now. A suppressed contact counts, too. */
export async function hasSubscribedContact(db: Db, audience: Audience): Promise<boolean> {
  const { rows } = await sql<{ exists: boolean }>`
    SELECT EXISTS (SELECT FROM contacts WHERE ${await audiencePredicate(db, audience)} AND contacts.subscribed) AS exists
  `.execute(db);
  return rows[0]?.exists ?? false;
}

/**
 * Tells whether the audience has a subscribed contact that would count toward the monthly limit. Simulator addresses
 * never count.
 */
export async function hasContactToCount(db: Db, audience: Audience): Promise<boolean> {
  const { rows } = await sql<{ counts: boolean }>`
    SELECT EXISTS (
      SELECT FROM contacts WHERE ${await audiencePredicate(db, audience)} AND contacts.subscribed AND NOT ${isSimulatorSql(sql`contacts.email`)}) AS counts
  `.execute(db);
  return rows[0]?.counts ?? false;
}

/**
 * Inserts the next page of the audience into the ledger, in the order of contact ids. The rows become one chunk, or one
 * chunk or more for each time zone and variant. Every contact gets a row. A contact that may not get the email now is
 * skipped with the reason, and does not count toward the monthly limit. One transaction writes the rows, the chunk and
 * the cursor, so after a crash the page is either complete or will be inserted again. The unique index (campaign_id,
 * contact_id) prevents duplicates. The claim checks again, just before the email is sent, whether a contact is still
 * subscribed (db/campaigns/claims.ts). Source: contract §6.3 Current consent.
 */
export async function insertAudiencePage(trx: Trx, p: PageRequest): Promise<AudiencePage> {
  const campaign = await lockSending(trx, p);
  if (!campaign) return { outcome: 'stopped' };
  if (campaign.audience_done) return { outcome: 'taken', done: true, ...(await readTakenSoFar(trx, p)) };
  const predicate = pagePredicate(await audiencePredicate(trx, toAudience(p.projectId, campaign)), campaign);
  const page = await takeRows(trx, p, campaign, predicate);
  await sql`
    UPDATE campaigns SET audience_cursor = ${page.cursor}, audience_done = ${page.done}
    WHERE project_id = ${p.projectId} AND id = ${p.campaignId}
  `.execute(trx);
  await insertChunks(trx, p, page.chunks);
  const taken = await readTakenSoFar(trx, p);
  // Counts the recipients toward the limit last, because every send of the project waits while this transaction locks
  // the month's row.
  const counted =
    campaign.monthly_email_limit === null ? 0 : page.open - (await countSimulatorRecipients(trx, p, page));
  const room = await takeCampaignAllowance(trx, { projectId: p.projectId, campaign, n: counted });
  if (room < counted) await failBeyondLimit(trx, p, page, room);
  return { outcome: 'taken', done: page.done, ...taken };
}

/**
 * Creates the project's row for the current month, with the number of emails so far, if the campaign is live and the
 * project has a monthly limit. Called before the pages are inserted, and outside their transactions, so that no send
 * waits for the count.
 */
export async function createMonthRowOfCampaign(db: Db, p: { projectId: string; campaignId: string }): Promise<void> {
  const { rows } = await sql<{ limited: boolean }>`
    SELECT p.effective_monthly_email_limit IS NOT NULL AND c.mode = 'live' AS limited
    FROM campaigns c JOIN projects p ON p.id = c.project_id WHERE c.project_id = ${p.projectId} AND c.id = ${p.campaignId}
  `.execute(db);
  if (rows[0]?.limited) await createMonthRow(db, p.projectId);
}

/**
 * Returns the WHERE condition for `contacts` that selects the project's contacts in the audience, subscribed or not.
 * @throws AppError CONFLICT when the segment or the filter of the audience is missing
 */
export async function audiencePredicate(db: Db, audience: Audience): Promise<RawBuilder<SqlBool>> {
  const { projectId } = audience;
  const condition = audienceCondition(audience);
  const ours = sql<SqlBool>`contacts.project_id = ${projectId}`;
  if (!condition) return ours;
  const { segments, zone } = await loadConditionSources(db, { projectId, condition });
  return sql<SqlBool>`${ours} AND (${compileCondition(condition, { projectId, now: new Date(), segments, zone })})`;
}

function audienceCondition({ type, segmentId, filter }: Audience): Condition | undefined {
  if (type === 'ALL') return undefined;
  if (type === 'FILTERED' && filter) return filter;
  if (type === 'SEGMENT' && segmentId) {
    return { logic: 'AND', groups: [{ filters: [{ field: `segment.${segmentId}`, operator: 'memberOf' }] }] };
  }
  // The segment was deleted. Drafts lose their segment in that case.
  throw new AppError('CONFLICT', {
    message: 'The campaign names no audience: its segment or filter is missing.',
    details: { audienceType: type },
    suggestion: 'Set segmentId, audienceFilter or another audienceType with PUT /v1/campaigns/{id}.',
  });
}

/** Selects the contacts of the audience that come after the cursor. */
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
  'send_at_local',
  'variants',
  'variant_test',
  'variant_content_ids',
  'winner',
] as const;

type CampaignRow = RowOf<'campaigns', typeof LOCKED> & {
  content_id: string;
  monthly_email_limit: number | null;
  window: SendingWindow | null;
};

function toAudience(projectId: string, row: CampaignRow): Audience {
  return { projectId, type: row.audience_type, segmentId: row.segment_id, filter: row.audience_filter };
}

/**
 * Locks the campaign while a page is inserted. A concurrent cancellation waits for the page. After a cancellation,
 * nothing is inserted.
 */
async function lockSending(
  trx: Trx,
  p: { projectId: string; campaignId: string; sendNo: number },
): Promise<CampaignRow | undefined> {
  const { rows } = await sql<CampaignRow>`
    SELECT ${sql.raw(LOCKED.map((name) => `k.${name}`).join(', '))},
      p.effective_monthly_email_limit AS monthly_email_limit, ${EFFECTIVE_WINDOW} AS window
    FROM campaigns k JOIN projects p ON p.id = k.project_id
    WHERE k.project_id = ${p.projectId} AND k.id = ${p.campaignId} AND k.status IN ${BEGUN_CAMPAIGNS} AND k.send_no = ${p.sendNo}
      AND k.content_id IS NOT NULL
    FOR NO KEY UPDATE OF k
  `.execute(trx);
  return rows[0];
}

async function readTakenSoFar(trx: Trx, p: { projectId: string; campaignId: string }): Promise<TakenSoFar> {
  const { rows } = await sql<{ recipients: number; lastSeq: number }>`
    SELECT coalesce(sum(size), 0)::int AS recipients, greatest(max(seq), 0) AS "lastSeq"
    FROM campaign_chunks WHERE campaign_id = ${p.campaignId}
  `.execute(trx);
  const testing = await isTesting(trx, p);
  return { ...(rows[0] ?? { recipients: 0, lastSeq: 0 }), ...(testing !== undefined && { testing }) };
}

interface Page {
  recipients: number;
  /** Number of recipients to send to. */
  open: number;
  /** Ordered by their ids. */
  chunks: PageChunk[];
  cursor: string | null;
  done: boolean;
}

/**
 * Inserts a page's rows without ON CONFLICT, which would cost a third more. Rows should not exist yet, because the same
 * transaction writes the rows and the cursor. If a row exists anyway, inserts the page again with ON CONFLICT DO
 * NOTHING.
 */
async function takeRows(
  trx: Trx,
  p: PageRequest,
  campaign: CampaignRow,
  predicate: RawBuilder<SqlBool>,
): Promise<Page> {
  const zoned = dependsOnRecipientZone({ window: campaign.window, sendAtLocal: campaign.send_at_local });
  const contacts = pageSizeOf({ round: p.round, zoned });
  const zones = zoned ? await findPageZones(trx, { predicate, contacts }) : undefined;
  const how = { campaign, predicate, zones, contacts };
  try {
    return await inSavepoint(trx, () => insertPage(trx, p, { ...how, present: sql`` }));
  } catch (error) {
    if (!isDuplicateRecipient(error)) throw error;
    const present = sql`ON CONFLICT (campaign_id, contact_id) WHERE campaign_id IS NOT NULL DO NOTHING`;
    return insertPage(trx, p, { ...how, present });
  }
}

/**
 * Returns the size of a page. Pages by time zone are large from the second round on, because each zone of a page is a
 * separate chunk.
 */
function pageSizeOf({ round, zoned }: { round: number | undefined; zoned: boolean }): number {
  if (round === 0) return FIRST_PAGE_CONTACTS;
  if (zoned) return ZONED_PAGE_CONTACTS;
  return round === undefined
    ? PAGE_CONTACTS
    : Math.min(PAGE_CONTACTS, FIRST_PAGE_CONTACTS * 2 ** Math.max(0, round - 2));
}

function isDuplicateRecipient(error: unknown): boolean {
  const { code, constraint } = error as { code?: unknown; constraint?: unknown };
  return code === '23505' && constraint === 'emails_campaign_contact';
}

/**
 * Inserts the rows of a page by INSERT … SELECT, which takes 6 µs per row in Postgres and no time in Node. uuidv7()
 * only increases within a session, so the ids of a page are one range, and so are the ids of each zone in it.
 */
async function insertPage(
  trx: Trx,
  p: PageRequest,
  how: {
    campaign: CampaignRow;
    predicate: RawBuilder<SqlBool>;
    zones: PageZones | undefined;
    contacts: number;
    present: RawBuilder<unknown>;
  },
): Promise<Page> {
  const { campaign, predicate, zones, contacts, present } = how;
  const { projectId, suppressionPads: pads } = p;
  const refused = withheldReasonSql({ projectId, pads, subscribed: sql`page.subscribed`, email: sql`page.email` });
  if (campaign.variants && campaign.variant_content_ids) {
    const asked = { ...p, ...how, refused, campaign: campaign as CampaignWithVariants, chunkMax: PAGE_CONTACTS };
    const { chunks, open, seen, cursor } = await insertPageWithVariants(trx, asked);
    const recipients = chunks.reduce((sum, chunk) => sum + chunk.size, 0);
    return { recipients, open, chunks, cursor: cursor ?? campaign.audience_cursor, done: seen < contacts };
  }
  const { rows } = await sql<{
    recipients: number;
    open: number;
    first: string | null;
    last: string | null;
    seen: number;
    cursor: string | null;
    chunks: ZonedChunk[] | null;
  }>`
    WITH ${checkedPageSql({ predicate, refused, contacts, zones })}, taken AS (
      INSERT INTO emails (project_id, contact_id, content_id, campaign_id, source_type, mode, status, reason, failed_at)
      SELECT ${projectId}::uuid, zoned.id, ${campaign.content_id}::uuid, ${p.campaignId}::uuid, 'CAMPAIGN', ${campaign.mode},
        CASE WHEN zoned.refused IS NULL THEN 'PENDING' ELSE 'FAILED' END, zoned.refused,
        CASE WHEN zoned.refused IS NOT NULL THEN now() END
      FROM zoned ORDER BY zoned.zone NULLS FIRST, zoned.id
      ${present}
      RETURNING id, contact_id, status
    )
    SELECT (SELECT count(*) FROM taken) AS recipients, (SELECT count(*) FROM taken WHERE status = 'PENDING') AS open,
      (SELECT id FROM taken ORDER BY id LIMIT 1) AS first,
      (SELECT id FROM taken ORDER BY id DESC LIMIT 1) AS last, (SELECT count(*) FROM page) AS seen,
      (SELECT id FROM page ORDER BY id DESC LIMIT 1) AS cursor, ${zonedChunksSql(zones, PAGE_CONTACTS)} AS chunks
  `.execute(trx);
  const row = rows[0];
  if (!row) throw new Error('inserting a page of the audience returned no row');
  const { recipients, open, first, last } = row;
  const whole = first === null || last === null ? [] : [{ ...NO_ZONE_OR_VARIANT, first, last, size: recipients }];
  const chunks = row.chunks?.map((chunk) => ({ ...NO_ZONE_OR_VARIANT, ...chunk })) ?? whole;
  return { recipients, open, chunks, cursor: row.cursor ?? campaign.audience_cursor, done: row.seen < contacts };
}

/**
 * Assigns a page's rows to chunks. Chunks must not overlap, because two lanes would then send to the same recipient. If
 * Postgres's clock was set back since the last page, new ids can be lower than earlier ones, and the insert fails.
 * Temporal then retries the activity until the clock is later than before.
 */
async function insertChunks(
  trx: Trx,
  p: { projectId: string; campaignId: string },
  chunks: PageChunk[],
): Promise<void> {
  if (chunks.length === 0) return;
  const { rows } = await sql`
    WITH given AS (
      SELECT u.*, u.rest AND u.variant IS NULL AS waits
      FROM unnest(${chunks.map((c) => c.first)}::uuid[], ${chunks.map((c) => c.last)}::uuid[], ${chunks.map((c) => c.size)}::int[],
        ${chunks.map((c) => c.zone)}::text[], ${chunks.map((c) => c.variant)}::smallint[], ${chunks.map((c) => c.rest)}::bool[])
        WITH ORDINALITY AS u (first, last, size, zone, variant, rest, n)
    ), before AS (
      SELECT greatest(max(seq), 0) AS top, least(min(seq), 0) AS bottom, (array_agg(last_id ORDER BY last_id DESC))[1] AS last_id
      FROM campaign_chunks WHERE campaign_id = ${p.campaignId}
    ), numbered AS (
      SELECT *, row_number() OVER (PARTITION BY waits ORDER BY n) AS nth, lag(last) OVER (ORDER BY n) AS last_before FROM given
    )
    INSERT INTO campaign_chunks (campaign_id, seq, project_id, first_id, last_id, size, zone, variant, rest)
    SELECT ${p.campaignId}::uuid, CASE WHEN g.waits THEN before.bottom - g.nth ELSE before.top + g.nth END, ${p.projectId}::uuid,
      g.first, g.last, g.size, g.zone, g.variant, g.rest
    FROM numbered g CROSS JOIN before
    WHERE (g.first > coalesce(g.last_before, before.last_id)) IS NOT FALSE
    RETURNING seq
  `.execute(trx);
  if (rows.length < chunks.length)
    throw new Error(
      'the ids of a page start before the ids of the previous page, because the time of the host went back',
    );
}

/** The columns of a chunk without a zone and variant. */
const NO_ZONE_OR_VARIANT = { zone: null, variant: null, rest: false };

/**
 * Counts up to `n` recipients toward the monthly limit, and returns how many the limit allows. Does not lock the
 * month's row if the limit is already reached.
 */
export async function takeCampaignAllowance(
  trx: Trx,
  p: { projectId: string; campaign: Pick<CampaignRow, 'mode' | 'monthly_email_limit'>; n: number },
): Promise<number> {
  const { projectId, n } = p;
  const { mode, monthly_email_limit: limit } = p.campaign;
  if (limit === null || mode === 'test') return n;
  if (await takeMonthlyAllowance(trx, { projectId, n, limit })) return n;
  if (await isMonthlyLimitReached(trx, { projectId, limit })) return 0;
  const room = Math.min(n, await getRemainingMonthlyQuota(trx, { projectId, limit }));
  return room > 0 && (await takeMonthlyAllowance(trx, { projectId, n: room, limit })) ? room : 0;
}

/**
 * Counts the recipients of a page with simulator addresses, because email to these addresses does not count toward the
 * limit.
 */
async function countSimulatorRecipients(
  trx: Trx,
  p: { projectId: string; campaignId: string },
  page: Page,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (${selectPageRows(p, page)}) r WHERE ${isSimulatorSql(sql`r.email`)}
  `.execute(trx);
  return rows[0]?.count ?? 0;
}

function selectPageRows(p: { projectId: string; campaignId: string }, { chunks }: Page) {
  return sql`
    SELECT e.id, c.email FROM emails e JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    WHERE e.project_id = ${p.projectId} AND e.campaign_id = ${p.campaignId} AND e.id BETWEEN ${chunks[0]?.first}::uuid AND ${chunks.at(-1)?.last}::uuid
      AND e.status = 'PENDING'`;
}

/**
 * Marks the recipients of a page that exceed the monthly limit as failed: the recipients with the highest ids.
 * Recipients who wait for the winner have higher ids than the others, so they fail first.
 */
async function failBeyondLimit(
  trx: Trx,
  p: { projectId: string; campaignId: string },
  page: Page,
  room: number,
): Promise<void> {
  await sql`
    UPDATE emails SET ${FAILED_EMAIL_SQL}, reason = 'limit_reached'
    WHERE id IN (
      SELECT r.id FROM (${selectPageRows(p, page)}) r WHERE NOT ${isSimulatorSql(sql`r.email`)} ORDER BY r.id OFFSET ${room})
  `.execute(trx);
}
