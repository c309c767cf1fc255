import { sql } from 'kysely';
import type { ImageFacts, ImageType } from '../../rules/assets/image.ts';
import { AppError } from '../../rules/errors.ts';
import type { Db, Trx } from '../connection.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import type { RowOf } from '../schema/database.ts';
import { IMAGE_USES_COLUMNS, type ImageUses, IS_USED } from './image-uses.ts';

/** The maximum total size of a project's images. The database is not meant as an image archive. */
export const ASSETS_MAX_BYTES = 250 * 1024 * 1024;
const ASSETS_MOST = 5_000;

/** An image for emails, without its bytes. */
export interface Asset extends ImageUses {
  id: string;
  /** SHA-256 of the project's id and the bytes. The image's URL contains this hash. */
  hash: string;
  filename: string | null;
  contentType: ImageType;
  bytes: number;
  width: number;
  height: number;
  createdAt: Date;
}

const COLUMNS = ['id', 'hash', 'filename', 'content_type', 'bytes', 'width', 'height', 'created_at'] as const;
const SELECTED = sql.raw(COLUMNS.map((column) => `a.${column}`).join(', '));

type AssetRow = RowOf<'assets', typeof COLUMNS> & ImageUses;

export interface AssetRef {
  projectId: string;
  id: string;
}

/** An image to store. */
export interface NewAsset {
  projectId: string;
  hash: string;
  filename: string | null;
  image: ImageFacts;
  content: Buffer;
}

/**
 * Stores an image: its bytes, or the key of an object in the bucket that has the bytes. If the project already has an
 * image with the same bytes, returns that image with its first filename.
 * @throws AppError CONFLICT when the project would exceed the limit for the size or the number of its images
 */
export async function insertAsset(
  trx: Trx,
  { projectId, hash, filename, image, content }: NewAsset,
  objectKey: string | null = null,
): Promise<{ asset: Asset; isNew: boolean }> {
  const known = await findKnownAsset(trx, { projectId, hash, content });
  if (known) return { asset: known, isNew: false };
  const { type: content_type, width, height } = image;
  const kept = { object_key: objectKey, content: objectKey === null ? content : null, bytes: content.length };
  await trx
    .insertInto('assets')
    .values({ project_id: projectId, hash, filename, content_type, width, height, ...kept })
    .execute();
  const asset = await findByHash(trx, { projectId, hash });
  if (!asset) throw new Error(`image ${hash} was stored and is missing`);
  return { asset, isNew: true };
}

/**
 * Prevents other transactions from adding images to the project until the transaction ends. Returns the image with
 * these bytes if the project has one; otherwise checks the limits for a new image.
 * @throws AppError CONFLICT when the project would exceed the limit for the size or the number of its images
 */
export async function findKnownAsset(
  trx: Trx,
  { projectId, hash, content }: Pick<NewAsset, 'projectId' | 'hash' | 'content'>,
): Promise<Asset | undefined> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`room:assets:${projectId}`}, 0))`.execute(trx);
  const known = await findByHash(trx, { projectId, hash });
  if (!known) await assertAssetQuota(trx, { projectId, bytes: content.length });
  return known;
}

async function assertAssetQuota(trx: Trx, p: { projectId: string; bytes: number }): Promise<void> {
  const stored = await sumAssets(trx, p.projectId);
  if (stored.bytes + p.bytes <= ASSETS_MAX_BYTES && stored.count < ASSETS_MOST) return;
  throw new AppError('CONFLICT', {
    message: `A project may keep images of at most ${ASSETS_MAX_BYTES / 1024 / 1024} MB in total, and ${ASSETS_MOST}.`,
    details: { ...stored, maxBytes: ASSETS_MAX_BYTES, most: ASSETS_MOST },
    suggestion: 'Delete unused images: GET /assets?used=false lists them.',
  });
}

/** Returns the number and total size of a project's images. */
export async function sumAssets(db: Db, projectId: string): Promise<{ count: number; bytes: number }> {
  const { rows } = await sql<{ count: number; bytes: number }>`
    SELECT count(*) AS count, coalesce(sum(bytes), 0)::float8 AS bytes FROM assets WHERE project_id = ${projectId}
  `.execute(db);
  return rows[0] ?? { count: 0, bytes: 0 };
}

async function findByHash(db: Db, p: { projectId: string; hash: string }): Promise<Asset | undefined> {
  const { rows } = await sql<AssetRow>`
    SELECT ${SELECTED}, ${IMAGE_USES_COLUMNS} FROM assets a WHERE a.project_id = ${p.projectId} AND a.hash = ${p.hash}
  `.execute(db);
  return rows[0] && toAsset(rows[0]);
}

/**
 * Lists images newest first: all images, only used images (`used: true`), or only unused images (`used: false`).
 * `total` is counted only on the first page and is 0 on later pages.
 */
export async function listAssets(
  db: Db,
  p: PageRequest & { projectId: string; used?: boolean | undefined },
): Promise<Page<Asset> & { total: number }> {
  const wanted = p.used === undefined ? sql`true` : sql`${IS_USED} = ${p.used}`;
  const { rows } = await sql<AssetRow>`
    SELECT ${SELECTED}, ${IMAGE_USES_COLUMNS} FROM assets a
    WHERE a.project_id = ${p.projectId} AND ${wanted} AND ${afterCursorSql(p.cursor, 'a.id')}
    ORDER BY a.id DESC LIMIT ${p.limit + 1}
  `.execute(db);
  const total = p.cursor === undefined ? await countAssets(db, p) : 0;
  return { ...toPage(rows, p.limit, toAsset), total };
}

async function countAssets(db: Db, p: { projectId: string; used?: boolean | undefined }): Promise<number> {
  const wanted = p.used === undefined ? sql`true` : sql`${IS_USED} = ${p.used}`;
  const { rows } = await sql<{ total: number }>`
    SELECT count(*) AS total FROM assets a WHERE a.project_id = ${p.projectId} AND ${wanted}
  `.execute(db);
  return rows[0]?.total ?? 0;
}

/**
 * Deletes an image. With `force`, deletes it even if it is in use; emails that show it then show no image. If the bytes
 * are in the bucket, a trigger of the table queues the object for deletion.
 * @throws AppError NOT_FOUND; CONFLICT, with the uses in `details`
 */
export async function deleteAsset(trx: Trx, { projectId, id }: AssetRef, force: boolean): Promise<void> {
  const { rows } = await sql<ImageUses>`
    SELECT ${IMAGE_USES_COLUMNS} FROM assets a WHERE a.project_id = ${projectId} AND a.id = ${id} FOR UPDATE OF a
  `.execute(trx);
  const named = rows[0];
  if (!named) throw new AppError('NOT_FOUND', { message: 'This project has no image with this id.' });
  if (!force && (named.templates > 0 || named.campaigns > 0 || named.sent)) {
    const { templates, campaigns, sent } = named;
    throw new AppError('CONFLICT', {
      message: 'Templates, campaigns or sent emails use this image.',
      details: { templates, campaigns, sent },
      suggestion: 'Remove it from them first, or delete it anyway with ?force=true.',
    });
  }
  await sql`DELETE FROM assets WHERE project_id = ${projectId} AND id = ${id}`.execute(trx);
}

function toAsset(row: AssetRow): Asset {
  return {
    id: row.id,
    hash: row.hash,
    filename: row.filename,
    contentType: row.content_type,
    bytes: row.bytes,
    width: row.width,
    height: row.height,
    templates: row.templates,
    campaigns: row.campaigns,
    sent: row.sent,
    createdAt: row.created_at,
  };
}
