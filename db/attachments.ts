import { sql } from 'kysely';
import type { Db } from './connection.ts';

export interface Attachment {
  id: string;
  filename: string;
  contentType: string;
  disposition: 'attachment' | 'inline';
  contentId: string | null;
  content: Buffer;
}

export type AttachmentInfo = Omit<Attachment, 'content'> & { size: number };

/** Stores attachments, each under the id it was given. */
export async function insertAttachments(db: Db, rows: (Attachment & { projectId: string })[]): Promise<void> {
  if (rows.length === 0) return;
  // A value each, not arrays: a buffer of its own goes over the wire as it is, in an array as twice as much text.
  const values = rows.map(
    (r) =>
      sql`(${r.id}::uuid, ${r.projectId}::uuid, ${r.filename}, ${r.contentType}, ${r.disposition}, ${r.contentId}, ${r.content}::bytea)`,
  );
  await sql`
    INSERT INTO attachments (id, project_id, filename, content_type, disposition, content_id, content) VALUES ${sql.join(values)}
  `.execute(db);
}

/** Attachments with their bytes, in the order of `ids`. */
export async function findAttachments(db: Db, p: { projectId: string; ids: string[] }): Promise<Attachment[]> {
  if (p.ids.length === 0) return [];
  const { rows } = await sql<Attachment>`
    SELECT id, filename, content_type AS "contentType", disposition, content_id AS "contentId", content
    FROM attachments WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])
    ORDER BY array_position(${p.ids}::uuid[], id)
  `.execute(db);
  return rows;
}

/** What a message carries, without the bytes; it stays when they are dropped (db/retention.ts). */
export async function listAttachmentInfos(db: Db, p: { projectId: string; ids: string[] }): Promise<AttachmentInfo[]> {
  if (p.ids.length === 0) return [];
  const { rows } = await sql<AttachmentInfo>`
    SELECT id, filename, content_type AS "contentType", disposition, content_id AS "contentId", coalesce(size, octet_length(content)) AS size
    FROM attachments WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])
    ORDER BY array_position(${p.ids}::uuid[], id)
  `.execute(db);
  return rows;
}
