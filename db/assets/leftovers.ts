import { sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';

/**
 * An upload has so long from its announcement to its row, which is a hundred times what it takes; then pruning
 * takes it for one that was killed.
 */
const UPLOAD_MINUTES = 60;
/** The last of them are for a transaction that began in time to end. */
const MARGIN_MINUTES = 30;

export interface AssetObject {
  projectId: string;
  objectKey: string;
}

/** Before an object is put into the bucket: from here on it is known of, whoever dies. */
export async function announceObject(trx: Trx, { projectId, objectKey }: AssetObject): Promise<void> {
  await sql`
    INSERT INTO asset_leftovers (object_key, project_id, due_at)
    VALUES (${objectKey}, ${projectId}, now() + make_interval(mins => ${UPLOAD_MINUTES}))
  `.execute(trx);
}

/**
 * In the transaction of the row that names the object from now on.
 * @throws Error when the upload took so long that the object may be gone: nothing of the transaction may stay
 */
export async function claimObject(trx: Trx, { projectId, objectKey }: AssetObject): Promise<void> {
  const { numAffectedRows } = await sql`
    DELETE FROM asset_leftovers WHERE project_id = ${projectId} AND object_key = ${objectKey}
      AND due_at > now() + make_interval(mins => ${MARGIN_MINUTES})
  `.execute(trx);
  if (numAffectedRows !== 1n) throw new Error(`the object ${objectKey} was announced too long ago`);
}

/** Objects that may be removed, those that wait longest first, of all projects. */
export async function listDueObjects(db: Db, limit: number): Promise<AssetObject[]> {
  const { rows } = await sql<AssetObject>`
    SELECT project_id AS "projectId", object_key AS "objectKey" FROM asset_leftovers
    WHERE due_at <= now() ORDER BY due_at, object_key LIMIT ${limit}
  `.execute(db);
  return rows;
}

/** Once it is gone from the bucket. */
export async function forgetObject(db: Db, { projectId, objectKey }: AssetObject): Promise<void> {
  await sql`
    DELETE FROM asset_leftovers
    WHERE project_id = ${projectId} AND object_key = ${objectKey} AND due_at <= now()
  `.execute(db);
}

/** How many pictures of all projects are in the bucket. */
export async function countObjects(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM assets WHERE object_key IS NOT NULL`.execute(db);
  return rows[0]?.count ?? 0;
}
