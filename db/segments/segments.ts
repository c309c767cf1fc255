/** Queries of segments: their rows, their slugs, and the checks before a deletion. Source: contract §5. */

import { sql } from 'kysely';
import { AppError, createFieldError } from '../../rules/errors.ts';
import type { Condition } from '../../rules/filters/filters.ts';
import { collectReferences } from '../../rules/filters/references.ts';
import { assertUnchanged, type ReadVersion } from '../../rules/record-version.ts';
import { toSegmentSlug } from '../../rules/slug.ts';
import type { Db, Trx } from '../connection.ts';
import { containsTextSql } from '../contains-text.ts';
import { fittedPageSql, type Listed } from '../page-budget.ts';
import { assertQuota } from '../records/quotas.ts';
import { nextVersionSql } from '../records/record-version.ts';
import { refuseTakenSlug } from '../records/slugs.ts';
import { OPEN_CAMPAIGNS } from '../schema/campaign-status.ts';
import type { RowOf } from '../schema/database.ts';
import type { SegmentType } from '../schema/segments.ts';
import { compileCondition } from './filter-sql.ts';
import { loadConditionSources } from './sources.ts';
import { type CampaignUse, listOpenCampaignsUsing } from './usage.ts';

/** The error message for `trackMembership` on a STATIC segment. */
export const STATIC_NOT_TRACKED = 'A STATIC segment is not computed, so its membership is not tracked.';

export interface Segment {
  id: string;
  projectId: string;
  name: string;
  slug: string;
  description: string | null;
  type: SegmentType;
  /** Null for a STATIC segment. */
  condition: Condition | null;
  trackMembership: boolean;
  memberCount: number;
  computedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface SegmentRef {
  projectId: string;
  id: string;
}

export interface NewSegment {
  projectId: string;
  name: string;
  /** Derived from the name if omitted. */
  slug?: string | undefined;
  description: string | null;
  type: SegmentType;
  condition: Condition | null;
  trackMembership: boolean;
}

export interface SegmentPatch {
  name?: string | undefined;
  slug?: string | undefined;
  description?: string | null | undefined;
  condition?: Condition | undefined;
  trackMembership?: boolean | undefined;
}

const COLUMN_NAMES = [
  'id',
  'project_id',
  'name',
  'slug',
  'description',
  'type',
  'condition',
  'track_membership',
  'member_count',
  'computed_at',
  'created_at',
  'updated_at',
] as const;
const COLUMNS = sql.raw(COLUMN_NAMES.join(', '));

type SegmentRow = RowOf<'segments', typeof COLUMN_NAMES>;

/** The slug of a segment names its events, so the service never appends a number to it as it does for other records. */
const TAKEN = { kind: 'segment', suggestion: 'Choose another name, or set another slug.' };
const FOREIGN_KEY_VIOLATION = '23503';

/**
 * Lists all segments of the project newest first. Omits the conditions and descriptions that would make the response
 * too large. The response contains each condition twice.
 */
export async function listSegments(
  db: Db,
  { projectId, search }: { projectId: string; search?: string | undefined },
): Promise<Listed<Segment>[]> {
  const { rows } = await fittedPageSql<SegmentRow>({
    columns: COLUMN_NAMES,
    large: { condition: { jsonb: 2 }, description: 'text' },
    rows: sql`SELECT ${COLUMNS} FROM segments WHERE project_id = ${projectId} AND ${containsTextSql(['name'], search)}`,
  }).execute(db);
  return rows.map((row) => ({ ...toSegment(row), truncated: row.truncated }));
}

/** Lists all segments of the project by slug, with their conditions. Does not limit the total size. */
export async function listAllSegments(db: Db, projectId: string): Promise<Segment[]> {
  const rows = await db
    .selectFrom('segments')
    .select(COLUMN_NAMES)
    .where('project_id', '=', projectId)
    .orderBy('slug')
    .execute();
  return rows.map(toSegment);
}

/**
 * Returns one segment.
 * @throws AppError NOT_FOUND, also for an id of another project
 */
export async function getSegment(db: Db, { projectId, id }: SegmentRef): Promise<Segment> {
  const row = await db
    .selectFrom('segments')
    .select(COLUMN_NAMES)
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .executeTakeFirst();
  return toSegment(row);
}

/**
 * Locks a segment until the transaction ends, so that only one transaction at a time changes its members. Meanwhile,
 * campaigns can still start to use the segment.
 * @throws AppError NOT_FOUND; CONFLICT if the segment was changed after the version that the caller has read
 */
export async function lockSegment(trx: Trx, { projectId, id }: SegmentRef, read?: ReadVersion): Promise<Segment> {
  const row = await trx
    .selectFrom('segments')
    .select(COLUMN_NAMES)
    .where('project_id', '=', projectId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  const segment = toSegment(row);
  assertUnchanged({ name: 'segment', updatedAt: segment.updatedAt }, read);
  return segment;
}

/**
 * Creates a segment.
 * @throws AppError CONFLICT when the slug is taken, the project has 500 segments, or segments would refer to each other
 * in a cycle; VALIDATION_ERROR when the condition uses an unknown segment
 */
export async function insertSegment(trx: Trx, segment: NewSegment): Promise<Segment> {
  const { projectId, name, description, type, condition, trackMembership } = segment;
  const slug = segment.slug ?? toSegmentSlug(name);
  await assertQuota(trx, { projectId, table: 'segments' });
  if (condition) await checkReferences(trx, { projectId, condition });
  const inserted = trx
    .insertInto('segments')
    .values({
      project_id: projectId,
      name,
      slug,
      description,
      type,
      condition: toJson(condition),
      track_membership: trackMembership,
    })
    .returning(COLUMN_NAMES);
  return toSegment(await refuseTakenSlug({ ...TAKEN, slug }, () => inserted.executeTakeFirst()));
}

/**
 * Changes a segment. A new name also changes the slug, unless the request has a slug. Clients also send the unchanged
 * name beside other fields, which keeps a custom slug. A new slug changes the names of the segment's events. A new
 * condition applies at once. The stored members of a tracked segment change with its next computation.
 * @throws AppError as `insertSegment`, and NOT_FOUND
 */
export async function updateSegment(
  trx: Trx,
  { projectId, id, patch, read }: SegmentRef & { patch: SegmentPatch; read?: ReadVersion | undefined },
): Promise<Segment> {
  if (patch.condition) await checkReferences(trx, { projectId, condition: patch.condition, id });
  const segment = await lockSegment(trx, { projectId, id }, read);
  refuseOnStatic(segment, patch);
  const name = patch.name ?? segment.name;
  const slug = patch.slug ?? (name === segment.name ? segment.slug : toSegmentSlug(name));
  const description = patch.description === undefined ? segment.description : patch.description;
  const condition = toJson(patch.condition ?? segment.condition);
  const updated = sql<SegmentRow>`
    UPDATE segments SET name = ${name}, slug = ${slug}, description = ${description},
      computed_at = CASE WHEN track_membership AND condition = ${condition}::jsonb THEN computed_at END,
      condition = ${condition}::jsonb, updated_at = ${nextVersionSql()},
      track_membership = ${patch.trackMembership ?? segment.trackMembership}
    WHERE project_id = ${projectId} AND id = ${id} RETURNING ${COLUMNS}`;
  return toSegment(await refuseTakenSlug({ ...TAKEN, slug }, async () => (await updated.execute(trx)).rows[0]));
}

/**
 * Deletes a segment with its members. Campaigns that are not SCHEDULED, SENDING or PAUSED lose their reference to it.
 * @throws AppError NOT_FOUND; CONFLICT while a SCHEDULED, SENDING or PAUSED campaign uses the segment, directly, in its
 * filter, or through another segment
 */
export async function deleteSegment(
  trx: Trx,
  { projectId, id, read }: SegmentRef & { read?: ReadVersion | undefined },
): Promise<void> {
  await lockReferences(trx, projectId);
  await lockSegment(trx, { projectId, id }, read);
  const campaigns = await listOpenCampaignsUsing(trx, { projectId, id });
  if (campaigns.length > 0) throw createInUseError(campaigns);
  await sql`
    UPDATE campaigns SET segment_id = NULL, edited_at = ${nextVersionSql('edited_at')} WHERE project_id = ${projectId} AND segment_id = ${id}
      AND status NOT IN ${OPEN_CAMPAIGNS}`.execute(trx);
  try {
    await trx.deleteFrom('segments').where('project_id', '=', projectId).where('id', '=', id).execute();
  } catch (error) {
    // A campaign was scheduled after the check, and the foreign key of campaigns.segment_id refused the deletion.
    if (readErrorCode(error) === FOREIGN_KEY_VIOLATION) throw createInUseError([]);
    throw error;
  }
}

/** Throws unless every segment in the condition exists and none of them refers back to this segment. */
async function checkReferences(
  trx: Trx,
  { projectId, condition, id }: { projectId: string; condition: Condition; id?: string },
): Promise<void> {
  const wanted = collectReferences(condition).segmentIds;
  if (wanted.length === 0) return;
  await lockReferences(trx, projectId);
  const { segments, zone } = await loadConditionSources(trx, { projectId, condition });
  const unknown = wanted.find((segmentId) => !segments.has(segmentId));
  if (unknown) throw createFieldError('filters', `No segment of this project has the id ${unknown}.`);
  if (id && segments.has(id)) segments.set(id, { kind: 'condition', condition });
  compileCondition(condition, { projectId, now: new Date(), segments, zone });
}

/**
 * Locks out other changes of conditions that use segments. Without the lock, two concurrent changes could together
 * create a cycle.
 */
async function lockReferences(trx: Trx, projectId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`segment-references:${projectId}`}, 0))`.execute(trx);
}

function refuseOnStatic(segment: Segment, patch: SegmentPatch): void {
  if (segment.type !== 'STATIC') return;
  if (patch.condition)
    throw createFieldError('filters', 'A STATIC segment has no filters: its members are added and removed by address.');
  if (patch.trackMembership) throw createFieldError('trackMembership', STATIC_NOT_TRACKED);
}

function createInUseError(campaigns: CampaignUse[]): AppError {
  const message = 'A scheduled, sending or paused campaign uses this segment.';
  return new AppError('CONFLICT', {
    message,
    details: { usedInCampaigns: campaigns },
    suggestion: 'Cancel the campaigns in details, or wait until they were sent, then delete the segment.',
  });
}

function readErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function toJson(condition: Condition | null): string | null {
  return condition && JSON.stringify(condition);
}

function toSegment(row: SegmentRow | undefined): Segment {
  if (!row) throw new AppError('NOT_FOUND', { message: 'No segment of this project has this id.' });
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    type: row.type,
    condition: row.condition,
    trackMembership: row.track_membership,
    memberCount: row.member_count,
    computedAt: row.computed_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
