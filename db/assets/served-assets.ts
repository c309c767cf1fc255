import { sql } from 'kysely';
import type { PictureType } from '../../rules/content/picture.ts';
import type { Db } from '../connection.ts';

/** A picture as it is served. */
export interface ServedAsset {
  contentType: PictureType;
  content: Buffer;
}

/**
 * Bytes that are read at a time: they come as text, and reading that takes 4 ms a megabyte of the thread that all
 * share.
 */
const SLICE_BYTES = 256 * 1024;

/**
 * A picture by the hash in its address, whichever project it is of: who reads a mail has nothing but the address, and a
 * hash is of one project. Undefined where there is none, or it was deleted while it was read.
 */
export async function readServedAsset(db: Db, hash: string): Promise<ServedAsset | undefined> {
  const { rows } = await sql<{ id: string; projectId: string; contentType: PictureType; bytes: number }>`
    SELECT id, project_id AS "projectId", content_type AS "contentType", bytes FROM assets WHERE hash = ${hash}
  `.execute(db);
  const found = rows[0];
  if (!found) return undefined;
  const content = Buffer.alloc(found.bytes);
  for (let at = 0; at < found.bytes; at += SLICE_BYTES) {
    const slice = await readSlice(db, found, at);
    if (slice?.length !== Math.min(SLICE_BYTES, found.bytes - at)) return undefined;
    slice.copy(content, at);
  }
  return { contentType: found.contentType, content };
}

async function readSlice(db: Db, ref: { id: string; projectId: string }, at: number): Promise<Buffer | undefined> {
  const { rows } = await sql<{ slice: Buffer }>`
    SELECT substring(content FROM ${at + 1}::int FOR ${SLICE_BYTES}::int) AS slice
    FROM assets WHERE project_id = ${ref.projectId} AND id = ${ref.id}
  `.execute(db);
  return rows[0]?.slice;
}
