import { sql } from 'kysely';
import type { ImageType } from '../../rules/assets/image.ts';
import type { Db } from '../connection.ts';

/** The columns that are needed to serve an image over HTTP. */
export interface StoredAsset {
  id: string;
  projectId: string;
  contentType: ImageType;
  bytes: number;
  /** Key of the object in the bucket that has the bytes. Null if the row has the bytes. */
  objectKey: string | null;
}

/**
 * Bytes per query. The driver gets the bytes as text. Decoding 1 MB takes 4 ms, during which the process handles no
 * other request.
 */
const SLICE_BYTES = 256 * 1024;

/**
 * Finds an image by the hash in its URL, in any project. A reader of an email has only the URL, and each hash belongs
 * to one project.
 */
export async function findStoredAsset(db: Db, hash: string): Promise<StoredAsset | undefined> {
  const { rows } = await sql<StoredAsset>`
    SELECT id, project_id AS "projectId", content_type AS "contentType", bytes, object_key AS "objectKey"
    FROM assets WHERE hash = ${hash}
  `.execute(db);
  return rows[0];
}

/** Yields the bytes of a row slice by slice. Stops without an error if the row is deleted in the meantime. */
export async function* readAssetSlices(db: Db, { id, projectId, bytes }: StoredAsset): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; at += SLICE_BYTES) {
    const { rows } = await sql<{ slice: Buffer }>`
      SELECT substring(content FROM ${at + 1}::int FOR ${SLICE_BYTES}::int) AS slice
      FROM assets WHERE project_id = ${projectId} AND id = ${id}
    `.execute(db);
    if (!rows[0]) return;
    yield rows[0].slice;
  }
}
