import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { AudienceType, CampaignStatus, PausedReason } from '../../rules/campaigns/campaign.ts';
import { type CampaignTiming, NO_TIMING } from '../../rules/campaigns/timing.ts';
import {
  type CampaignVariant,
  getVariantText,
  type VariantTest,
  type WinnerSource,
} from '../../rules/campaigns/variants.ts';
import type { EmailText } from '../../rules/content/email-text.ts';
import { AppError } from '../../rules/errors.ts';
import type { Condition } from '../../rules/filters/filters.ts';
import { assertUnchanged, type ReadVersion } from '../../rules/record-version.ts';
import type { Db, Trx } from '../connection.ts';
import { containsTextSql } from '../contains-text.ts';
import { EMAIL_TEXT_COLUMN_NAMES, toEmailText, toEmailTextColumns } from '../contents/email-text.ts';
import { assertSender } from '../domains/senders.ts';
import { afterCursorSql, type NumberedPage, toNumberedPage, toOffset } from '../keyset.ts';
import { fittedPageSql, type Listed } from '../page-budget.ts';
import { recordDeletedRow } from '../records/deleted-rows.ts';
import { nextVersionSql } from '../records/record-version.ts';
import { chooseFreeSlug, refuseTakenSlug } from '../records/slugs.ts';
import { OPEN_CAMPAIGNS } from '../schema/campaign-status.ts';
import type { RowOf } from '../schema/database.ts';
import { lockTopic } from '../topics/topics.ts';
import { deleteMachineHours } from './machine-hours.ts';
import { toTiming, toTimingColumns, WINDOW_COLUMN_NAMES } from './timing.ts';

/**
 * Content, audience and timing of a campaign: all fields that a caller can write, except the slug and the start time.
 */
export interface CampaignContent extends EmailText {
  name: string;
  description: string | null;
  audienceType: AudienceType;
  segmentId: string | null;
  audienceFilter: Condition | null;
  /** Topic of the campaign. Only contacts who have joined the topic get the campaign. */
  topicId?: string | null;
  /** When recipients may get the campaign. Absent means the project's sending window and no local time. */
  timing?: CampaignTiming;
  /** Null or absent if the campaign has no variants. */
  variants?: CampaignVariant[] | null;
  test?: VariantTest | null;
}

export interface Campaign extends CampaignContent {
  id: string;
  /** Identifies the campaign in exported files, also in another project. */
  slug: string;
  topicId: string | null;
  timing: CampaignTiming;
  status: CampaignStatus;
  scheduledAt: Date | null;
  startedAt: Date | null;
  sentAt: Date | null;
  cancelledAt: Date | null;
  /** Null unless the status is PAUSED. */
  pausedReason: PausedReason | null;
  variants: CampaignVariant[] | null;
  test: VariantTest | null;
  /** When the winner is determined. Null until the test share has been sent. */
  testEndsAt: Date | null;
  /** Name of the variant that the remaining recipients get. */
  winner: string | null;
  winnerBy: WinnerSource | null;
  winnerAt: Date | null;
  createdAt: Date;
  /**
   * When the content was last changed. Serves as the version of the campaign. Sending does not change this time, except
   * for campaigns without a value in `edited_at`.
   */
  updatedAt: Date;
}

export interface CampaignRef {
  projectId: string;
  id: string;
}

/** One start of a campaign. A campaign that was cancelled can be started again, with a higher `sendNo`. */
export interface CampaignStart {
  projectId: string;
  campaignId: string;
  sendNo: number;
}

/** The columns of `CampaignContent` that a copy of the campaign gets: all except `name` and `timing.sendAtLocal`. */
const COPIED = [
  'description',
  ...EMAIL_TEXT_COLUMN_NAMES,
  'audience_type',
  'segment_id',
  'audience_filter',
  'topic_id',
  'variants',
  'variant_test',
  ...WINDOW_COLUMN_NAMES,
] as const;
export const CAMPAIGN_COLUMN_NAMES = [
  'id',
  'name',
  'slug',
  ...COPIED,
  'send_at_local',
  'status',
  'scheduled_at',
  'started_at',
  'sent_at',
  'cancelled_at',
  'paused_reason',
  'test_ends_at',
  'winner',
  'winner_by',
  'winner_at',
  'created_at',
  'updated_at',
  'edited_at',
] as const;
export type CampaignRow = RowOf<'campaigns', typeof CAMPAIGN_COLUMN_NAMES>;

export const CAMPAIGN_COLUMNS = sql.raw(CAMPAIGN_COLUMN_NAMES.join(', '));
/** The same columns of `campaigns c`, for statements in which another table has columns of the same names. */
export const CAMPAIGN_COLUMNS_OF_C = sql.raw(CAMPAIGN_COLUMN_NAMES.map((name) => `c.${name}`).join(', '));

/**
 * Creates a DRAFT.
 * @throws AppError DOMAIN_NOT_VERIFIED, NOT_FOUND for an unknown segment or topic, CONFLICT for a slug that is taken
 */
export async function insertCampaign(
  trx: Trx,
  p: { projectId: string; content: CampaignContent; slug?: string | undefined },
): Promise<Campaign> {
  await assertContent(trx, p);
  const { projectId, content } = p;
  const slug = p.slug ?? (await newCampaignSlug(trx, { projectId, name: content.name }));
  const inserted = trx
    .insertInto('campaigns')
    .values({ project_id: projectId, slug, ...contentColumns(content) })
    .returning(CAMPAIGN_COLUMN_NAMES);
  return toCampaign(await refuseTakenSlug({ kind: 'campaign', slug }, () => inserted.executeTakeFirst()));
}

/**
 * Returns one campaign.
 * @throws AppError NOT_FOUND, also for an id of another project
 */
export async function getCampaign(db: Db, { projectId, id }: CampaignRef): Promise<Campaign> {
  const row = await db
    .selectFrom('campaigns')
    .select(CAMPAIGN_COLUMN_NAMES)
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  return toCampaign(row);
}

/**
 * Returns the ids of the contents that the current start sends, one per variant, in the order of the variants. Null
 * before the first start, and after the campaign became a DRAFT again.
 */
export async function getCampaignContentIds(db: Db, { projectId, id }: CampaignRef): Promise<string[] | null> {
  const row = await db
    .selectFrom('campaigns')
    .select(['content_id', 'variant_content_ids'])
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row || row.content_id === null) return null;
  return row.variant_content_ids ?? [row.content_id];
}

/**
 * Returns the campaign and locks it until the transaction ends.
 * @throws AppError NOT_FOUND; CONFLICT if the campaign was changed after the version that the caller has read
 */
export async function lockCampaign(trx: Trx, { projectId, id }: CampaignRef, read?: ReadVersion): Promise<Campaign> {
  const row = await trx
    .selectFrom('campaigns')
    .select(CAMPAIGN_COLUMN_NAMES)
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  const campaign = toCampaign(row);
  assertUnchanged({ name: 'campaign', updatedAt: campaign.updatedAt }, read);
  return campaign;
}

/**
 * Lists campaigns newest first, by page number or by cursor (contract §1.6 Lists). Omits the bodies, audience filters
 * and variants that would make the response too large.
 */
export async function listCampaigns(
  db: Db,
  p: {
    projectId: string;
    status?: CampaignStatus | undefined;
    /** A substring of the name. */
    search?: string | undefined;
    page: number;
    pageSize: number;
    cursor?: string | undefined;
  },
): Promise<NumberedPage<Listed<Campaign>>> {
  const found = sql<SqlBool>`project_id = ${p.projectId} AND ${hasStatus(p.status)} AND ${containsTextSql(['name'], p.search)}`;
  const [counted, listed] = await Promise.all([
    sql<{ total: number }>`SELECT count(*) AS total FROM campaigns WHERE ${found}`.execute(db),
    fittedPageSql<CampaignRow>({
      columns: CAMPAIGN_COLUMN_NAMES,
      large: { body: 'text', audience_filter: { jsonb: 3 }, variants: { jsonb: 1 } },
      rows: sql`
        SELECT ${CAMPAIGN_COLUMNS} FROM campaigns WHERE ${found} AND ${afterCursorSql(p.cursor)}
        ORDER BY id DESC LIMIT ${p.pageSize + 1} OFFSET ${toOffset(p)}`,
    }).execute(db),
  ]);
  return toNumberedPage(
    listed.rows,
    { page: p.page, pageSize: p.pageSize, total: counted.rows[0]?.total ?? 0 },
    (row) => ({ ...toCampaign(row), truncated: row.truncated }),
  );
}

/**
 * Replaces the content of a DRAFT or SCHEDULED campaign. Emails that an earlier, cancelled start has sent keep their
 * content.
 * @throws AppError NOT_FOUND, CONFLICT in any other state or for a slug that is taken, DOMAIN_NOT_VERIFIED
 */
export async function updateCampaign(
  trx: Trx,
  p: CampaignRef & { content: CampaignContent; slug?: string | undefined },
): Promise<Campaign> {
  await assertContent(trx, p);
  const { slug } = p;
  const updated = trx
    .updateTable('campaigns')
    .set({ ...contentColumns(p.content), slug, updated_at: sql<Date>`now()`, edited_at: nextVersionSql('edited_at') })
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.id)
    .where('status', 'in', ['DRAFT', 'SCHEDULED'])
    .returning(CAMPAIGN_COLUMN_NAMES);
  const row = await refuseTakenSlug({ kind: 'campaign', slug }, () => updated.executeTakeFirst());
  if (!row) {
    throw await createRefusalError(trx, p, {
      message: 'Only a campaign that is DRAFT or SCHEDULED can be changed.',
      suggestion: 'Copy it with POST /v1/campaigns/{id}/duplicate, and change the copy.',
    });
  }
  return toCampaign(row);
}

/**
 * Deletes a campaign. The campaign's emails stay in the history of their contacts.
 * @throws AppError NOT_FOUND, CONFLICT while it is SCHEDULED, SENDING or PAUSED, or when the caller has read an older
 * version
 */
export async function deleteCampaign(trx: Trx, p: CampaignRef & { read?: ReadVersion | undefined }): Promise<void> {
  if (p.read) await lockCampaign(trx, p, p.read);
  const { rows } = await sql<{ status: CampaignStatus }>`
    DELETE FROM campaigns
    WHERE project_id = ${p.projectId} AND id = ${p.id} AND status NOT IN ${OPEN_CAMPAIGNS} RETURNING status
  `.execute(trx);
  const [deleted] = rows;
  if (!deleted)
    throw await createRefusalError(trx, p, {
      message: 'A campaign that is SCHEDULED, SENDING or PAUSED cannot be deleted.',
      suggestion: 'Cancel it first with POST /v1/campaigns/{id}/cancel.',
    });
  await recordDeletedRow(trx, { ...p, ...deleted });
  await sql`DELETE FROM link_clicks WHERE campaign_id = ${p.id} AND project_id = ${p.projectId}`.execute(trx);
  await deleteMachineHours(trx, p);
}

/**
 * Creates a DRAFT with the same content, named "… (Copy)".
 * @throws AppError NOT_FOUND
 */
export async function duplicateCampaign(trx: Trx, p: CampaignRef): Promise<Campaign> {
  const copied = sql.raw(COPIED.join(', '));
  const { name } = await getCampaign(trx, p);
  const slug = await newCampaignSlug(trx, { projectId: p.projectId, name: `${name}${COPY_SUFFIX}` });
  const { rows } = await sql<CampaignRow>`
    INSERT INTO campaigns (project_id, name, slug, ${copied})
    SELECT project_id, left(name, ${CAMPAIGN_NAME_MAX_CHARS - COPY_SUFFIX.length}) || ${COPY_SUFFIX}, ${slug}, ${copied}
    FROM campaigns WHERE project_id = ${p.projectId} AND id = ${p.id}
    RETURNING ${CAMPAIGN_COLUMNS}
  `.execute(trx);
  return toCampaign(rows[0]);
}

export const CAMPAIGN_NAME_MAX_CHARS = 255;
const COPY_SUFFIX = ' (Copy)';

/**
 * Creates a slug from the name. Until this transaction ends, other transactions of the project wait before they create
 * a campaign's slug, so that two campaigns do not get the same slug.
 */
async function newCampaignSlug(trx: Trx, { projectId, name }: { projectId: string; name: string }): Promise<string> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`slug:campaigns:${projectId}`}, 0))`.execute(trx);
  return chooseFreeSlug(trx, { table: 'campaigns', within: projectId, name });
}

export interface CampaignRefusal {
  message: string;
  /** The next step for the caller, for error messages. */
  suggestion: string;
}

/**
 * Returns the error for a conditional UPDATE or DELETE that found no row: NOT_FOUND, or CONFLICT with the campaign's
 * status in `details`.
 */
export async function createRefusalError(trx: Trx, p: CampaignRef, why: CampaignRefusal): Promise<AppError> {
  const row = await trx
    .selectFrom('campaigns')
    .select('status')
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.id)
    .executeTakeFirst();
  if (!row) return createCampaignNotFoundError();
  return new AppError('CONFLICT', { ...why, details: { status: row.status } });
}

async function assertContent(
  trx: Trx,
  { projectId, content }: { projectId: string; content: CampaignContent },
): Promise<void> {
  for (const { from } of [content, ...listVariantTexts(content)]) await assertSender(trx, { projectId, from });
  if (content.topicId) await lockTopic(trx, { projectId, id: content.topicId });
  if (content.segmentId === null) return;
  const { rows } = await sql`
    SELECT id FROM segments WHERE project_id = ${projectId} AND id = ${content.segmentId} FOR KEY SHARE
  `.execute(trx);
  if (rows.length === 0)
    throw new AppError('NOT_FOUND', { message: 'No segment of this project has the id in segmentId.' });
}

/** Returns the text of each variant. A campaign without variants has one text. */
export function listVariantTexts(content: CampaignContent): EmailText[] {
  return content.variants ? content.variants.map((variant) => getVariantText(content, variant)) : [content];
}

function hasStatus(status: CampaignStatus | undefined): RawBuilder<SqlBool> {
  return status ? sql<SqlBool>`status = ${status}` : sql<SqlBool>`true`;
}

function contentColumns(content: CampaignContent) {
  const { name, description, audienceType, segmentId, audienceFilter, timing = NO_TIMING } = content;
  const { variants = null, test = null } = content;
  return {
    name,
    description,
    ...toEmailTextColumns(content),
    audience_type: audienceType,
    segment_id: segmentId,
    audience_filter: toJsonOrNull(audienceFilter),
    topic_id: content.topicId ?? null,
    ...toTimingColumns(timing),
    variants: toJsonOrNull(variants),
    variant_test: toJsonOrNull(test),
  };
}

function toJsonOrNull(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function createCampaignNotFoundError(): AppError {
  return new AppError('NOT_FOUND', { message: 'No campaign of this project has this id.' });
}

/**
 * Maps a row to a campaign.
 * @throws AppError NOT_FOUND if the row is undefined
 */
export function toCampaign(row: CampaignRow | undefined): Campaign {
  if (!row) throw createCampaignNotFoundError();
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    ...toEmailText(row),
    audienceType: row.audience_type,
    segmentId: row.segment_id,
    audienceFilter: row.audience_filter,
    topicId: row.topic_id,
    timing: toTiming(row),
    status: row.status,
    scheduledAt: row.scheduled_at,
    startedAt: row.started_at,
    sentAt: row.sent_at,
    cancelledAt: row.cancelled_at,
    pausedReason: row.paused_reason,
    variants: row.variants,
    test: row.variant_test,
    testEndsAt: row.test_ends_at,
    winner: row.winner === null ? null : (row.variants?.[row.winner]?.name ?? null),
    winnerBy: row.winner_by,
    winnerAt: row.winner_at,
    createdAt: row.created_at,
    updatedAt: row.edited_at ?? row.updated_at,
  };
}
