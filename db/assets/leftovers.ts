import { sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';

/**
 * The maximum time between the announcement of an upload and the insertion of its row, about 100 times the duration of
 * an upload. After this time, pruning treats the upload as interrupted.
 */
const UPLOAD_MINUTES = 60;
/** The row must be inserted this long before that time is over, so that its transaction has ended by then. */
const MARGIN_MINUTES = 30;

export interface AssetObject {
  projectId: string;
  objectKey: string;
}

/** Announces an object before it is uploaded to the bucket, so that it is known even if the process dies. */
export async function announceObject(trx: Trx, { projectId, objectKey }: AssetObject): Promise<void> {
  await sql`
    INSERT INTO asset_leftovers (object_key, project_id, due_at)
    VALUES (${objectKey}, ${projectId}, now() + make_interval(mins => ${UPLOAD_MINUTES}))
  `.execute(trx);
}

/**
 * Claims an announced object, in the transaction that inserts its row.
 * @throws Error when the upload took too long, so that the object may have been removed. The transaction must roll
 * back.
 */
export async function claimObject(trx: Trx, { projectId, objectKey }: AssetObject): Promise<void> {
  const { numAffectedRows } = await sql`
    DELETE FROM asset_leftovers WHERE project_id = ${projectId} AND object_key = ${objectKey}
      AND due_at > now() + make_interval(mins => ${MARGIN_MINUTES})
  `.execute(trx);
  if (numAffectedRows !== 1n) throw new Error(`the object ${objectKey} was announced too long ago`);
}

/** Lists objects of all projects that may be removed, the oldest first. */
export async function listDueObjects(db: Db, limit: number): Promise<AssetObject[]> {
  const { rows } = await sql<AssetObject>`
    SELECT project_id AS "projectId", object_key AS "objectKey" FROM asset_leftovers
    WHERE due_at <= now() ORDER BY due_at, object_key LIMIT ${limit}
  `.execute(db);
  return rows;
}

/** Deletes the record of an object that was deleted from the bucket. */
export async function deleteLeftover(db: Db, { projectId, objectKey }: AssetObject): Promise<void> {
  await sql`
    DELETE FROM asset_leftovers
    WHERE project_id = ${projectId} AND object_key = ${objectKey} AND due_at <= now()
  `.execute(db);
}

/** Counts the images of all projects in the bucket. */
export async function countObjects(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM assets WHERE object_key IS NOT NULL`.execute(db);
  return rows[0]?.count ?? 0;
}
