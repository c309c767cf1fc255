import { setTimeout } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Db } from '../connection.ts';

export interface Attachment {
  id: string;
  filename: string;
  contentType: string;
  disposition: 'attachment' | 'inline' | 'alternative';
  contentId: string | null;
  content: Buffer;
}

export type AttachmentInfo = Omit<Attachment, 'content'> & { size: number };

/** Stores attachments under their given ids. */
export async function insertAttachments(db: Db, rows: (Attachment & { projectId: string })[]): Promise<void> {
  if (rows.length === 0) return;
  // Passes each value as a separate parameter. The driver sends a buffer as binary data only then; within an array, it
  // sends text of twice the size.
  const values = rows.map(
    (r) =>
      sql`(${r.id}::uuid, ${r.projectId}::uuid, ${r.filename}, ${r.contentType}, ${r.disposition}, ${r.contentId}, ${r.content}::bytea)`,
  );
  await sql`
    INSERT INTO attachments (id, project_id, filename, content_type, disposition, content_id, content) VALUES ${sql.join(values)}
  `.execute(db);
}

/**
 * Bytes per query. Postgres sends the bytes to the driver as text, and decoding 1 MB takes 4 ms, during which the
 * process handles no other request. Postgres stores files uncompressed (STORAGE EXTERNAL), so it reads only the
 * requested slice.
 */
const SLICE_BYTES = 256 * 1024;

/** Returns the total size of attachments, in bytes. Attachments whose bytes were deleted count as 0. */
export async function sumAttachmentBytes(db: Db, p: { projectId: string; ids: string[] }): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT coalesce(sum(octet_length(content)), 0)::float8 AS bytes
    FROM attachments WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])
  `.execute(db);
  return rows[0]?.bytes ?? 0;
}

/**
 * Like `findAttachments`, but reads each attachment slice by slice. Each attachment has a separate buffer, which can be
 * transferred to another thread.
 */
export async function readLargeAttachments(db: Db, p: { projectId: string; ids: string[] }): Promise<Attachment[]> {
  const { rows } = await sql<Omit<Attachment, 'content'> & { bytes: number }>`
    SELECT id, filename, content_type AS "contentType", disposition, content_id AS "contentId", octet_length(content) AS bytes
    FROM attachments WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])
    ORDER BY array_position(${p.ids}::uuid[], id)
  `.execute(db);
  const attachments: Attachment[] = [];
  for (const { bytes, ...info } of rows) {
    attachments.push({ ...info, content: await readContent(db, { projectId: p.projectId, id: info.id, bytes }) });
  }
  return attachments;
}

async function readContent(db: Db, p: { projectId: string; id: string; bytes: number }): Promise<Buffer> {
  const content = Buffer.from(new ArrayBuffer(p.bytes));
  for (let at = 0; at < p.bytes; at += SLICE_BYTES) {
    const startedMs = performance.now();
    const { rows } = await sql<{ slice: Buffer }>`
      SELECT substring(content FROM ${at + 1}::int FOR ${SLICE_BYTES}::int) AS slice
      FROM attachments WHERE project_id = ${p.projectId} AND id = ${p.id}
    `.execute(db);
    const slice = rows[0]?.slice;
    if (slice?.length !== Math.min(SLICE_BYTES, p.bytes - at))
      throw new Error(`attachment ${p.id} was deleted meanwhile`);
    slice.copy(content, at);
    // Pauses for as long as the query took. Without pauses, the queries would keep Postgres and this thread fully busy.
    await setTimeout(performance.now() - startedMs);
  }
  return content;
}

/** Returns attachments with their bytes, in the order of `ids`. */
export async function findAttachments(db: Db, p: { projectId: string; ids: string[] }): Promise<Attachment[]> {
  if (p.ids.length === 0) return [];
  const { rows } = await sql<Attachment>`
    SELECT id, filename, content_type AS "contentType", disposition, content_id AS "contentId", content
    FROM attachments WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])
    ORDER BY array_position(${p.ids}::uuid[], id)
  `.execute(db);
  return rows;
}

/**
 * Returns an attachment of an email without its bytes. Undefined if the email has no attachment with this id.
 * `isDropped` is true after the bytes were deleted.
 */
export async function findEmailAttachment(
  db: Db,
  p: { projectId: string; emailId: string; attachmentId: string },
): Promise<{ filename: string; isDropped: boolean } | undefined> {
  const { rows } = await sql<{ filename: string; isDropped: boolean }>`
    SELECT a.filename, a.size IS NOT NULL AS "isDropped"
    FROM emails e JOIN attachments a ON a.project_id = e.project_id AND a.id = ${p.attachmentId}
    WHERE e.project_id = ${p.projectId} AND e.id = ${p.emailId} AND e.options->'attachmentIds' @> jsonb_build_array(a.id::text)
  `.execute(db);
  return rows[0];
}

/**
 * Lists attachments by id, in the order of `ids`, without their bytes. The list stays complete after the bytes were
 * deleted (db/housekeeping/retention.ts).
 */
export async function listAttachmentInfos(db: Db, p: { projectId: string; ids: string[] }): Promise<AttachmentInfo[]> {
  if (p.ids.length === 0) return [];
  const { rows } = await sql<AttachmentInfo>`
    SELECT id, filename, content_type AS "contentType", disposition, content_id AS "contentId", coalesce(size, octet_length(content)) AS size
    FROM attachments WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])
    ORDER BY array_position(${p.ids}::uuid[], id)
  `.execute(db);
  return rows;
}
