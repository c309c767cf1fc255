import { sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';

/**
 * The service stores an image in the bucket in three steps: it announces the object (a row of `asset_leftovers`),
 * uploads the bytes, and inserts the row of the image. If the last step has not happened within this time after the
 * announcement, pruning treats the upload as interrupted and deletes the object.
 */
const UPLOAD_MINUTES = 60;
/**
 * The insert is refused in the last 30 minutes of `UPLOAD_MINUTES`, so that its transaction has ended before pruning
 * may delete the object. The 30 minutes that remain for the upload are about 50 times its usual duration.
 */
const MARGIN_MINUTES = 30;

export interface AssetObject {
  projectId: string;
  objectKey: string;
}

/**
 * Stores the key of an object before its upload to the bucket, so that pruning can delete the object even if the
 * process is killed during the upload.
 */
export async function announceObject(trx: Trx, { projectId, objectKey }: AssetObject): Promise<void> {
  await sql`
    INSERT INTO asset_leftovers (object_key, project_id, due_at)
    VALUES (${objectKey}, ${projectId}, now() + make_interval(mins => ${UPLOAD_MINUTES}))
  `.execute(trx);
}

/**
 * Deletes the announcement of an object, in the transaction that inserts the image's row.
 * @throws Error when the upload took too long, so that pruning may already have deleted the object. After this error,
 * the transaction must roll back.
 */
export async function deleteObjectAnnouncement(trx: Trx, { projectId, objectKey }: AssetObject): Promise<void> {
  const { numAffectedRows } = await sql`
    DELETE FROM asset_leftovers WHERE project_id = ${projectId} AND object_key = ${objectKey}
      AND due_at > now() + make_interval(mins => ${MARGIN_MINUTES})
  `.execute(trx);
  if (numAffectedRows !== 1n) throw new Error(`the object ${objectKey} was announced too long ago`);
}

/** Lists objects of all projects that may be deleted, in the order of the times from which they may be deleted. */
export async function listDueObjects(db: Db, limit: number): Promise<AssetObject[]> {
  const { rows } = await sql<AssetObject>`
    SELECT project_id AS "projectId", object_key AS "objectKey" FROM asset_leftovers
    WHERE due_at <= now() ORDER BY due_at, object_key LIMIT ${limit}
  `.execute(db);
  return rows;
}

/** Deletes the row of an object that was deleted from the bucket. */
export async function deleteLeftoverRow(db: Db, { projectId, objectKey }: AssetObject): Promise<void> {
  await sql`
    DELETE FROM asset_leftovers
    WHERE project_id = ${projectId} AND object_key = ${objectKey} AND due_at <= now()
  `.execute(db);
}

/** Counts the images of all projects in the bucket. */
export async function countBucketObjects(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM assets WHERE object_key IS NOT NULL`.execute(db);
  return rows[0]?.count ?? 0;
}
