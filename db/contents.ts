import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from './connection.ts';
import type { MailType } from './suppressions.ts';

/** What a mail says and from whom: immutable, shared by all mails that say the same. */
export interface NewContent {
  projectId: string;
  subject: string;
  body: string;
  type: MailType;
  fromEmail: string;
  fromName: string | null;
  replyTo: string | null;
  templateId: string | null;
}

export interface Content extends NewContent {
  id: string;
}

/** SHA-256 over all that a content is, but its project: the unique key under which equal ones meet. */
export function contentHash(content: NewContent): Buffer {
  const { subject, body, type, fromEmail, fromName, replyTo, templateId } = content;
  return createHash('sha256')
    .update(JSON.stringify([subject, body, type, fromEmail, fromName, replyTo, templateId]))
    .digest();
}

/** Ids of contents, in their order; those that are new are stored. Any number, of any projects. May run twice. */
export async function saveContents(db: Db, contents: NewContent[]): Promise<string[]> {
  const entries = new Map<string, { content: NewContent; hash: Buffer }>();
  const keys = contents.map((content) => {
    const hash = contentHash(content);
    const key = `${content.projectId} ${hash.toString('hex')}`;
    entries.set(key, { content, hash });
    return key;
  });
  const found = await findContentIds(db, [...entries.values()]);
  const missing = [...entries].filter(([key]) => !found.has(key)).sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [key, id] of await insertContents(
    db,
    missing.map(([, entry]) => entry),
  ))
    found.set(key, id);
  return keys.map((key) => {
    const id = found.get(key);
    if (!id) throw new Error('a saved content is missing from its own result');
    return id;
  });
}

/** The id of one content; stored if it is new. */
export async function saveContent(db: Db, content: NewContent): Promise<string> {
  const [id] = await saveContents(db, [content]);
  if (!id) throw new Error('a saved content is missing from its own result');
  return id;
}

/** Contents by id. */
export async function findContents(db: Db, p: { projectId: string; ids: string[] }): Promise<Map<string, Content>> {
  if (p.ids.length === 0) return new Map();
  const { rows } = await sql<Content>`
    SELECT id, project_id AS "projectId", subject, body, type, from_email AS "fromEmail", from_name AS "fromName",
      reply_to AS "replyTo", template_id AS "templateId"
    FROM contents WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

interface Entry {
  content: NewContent;
  hash: Buffer;
}

interface FoundRow {
  project_id: string;
  hash: string;
  id: string;
}

async function findContentIds(db: Db, entries: Entry[]): Promise<Map<string, string>> {
  const { rows } = await sql<FoundRow>`
    /* prepared */ SELECT k.project_id, encode(k.hash, 'hex') AS hash, k.id
    FROM unnest(${entries.map((e) => e.content.projectId)}::uuid[], ${entries.map((e) => e.hash)}::bytea[]) AS u (project_id, hash)
    JOIN contents k USING (project_id, hash)
  `.execute(db);
  return byKey(rows);
}

async function insertContents(db: Db, entries: Entry[]): Promise<Map<string, string>> {
  if (entries.length === 0) return new Map();
  const contents = entries.map((entry) => entry.content);
  // DO UPDATE, not DO NOTHING: whoever loses a race gets the winner's id instead of nothing.
  const { rows } = await sql<FoundRow>`
    /* prepared */ INSERT INTO contents AS k (project_id, hash, subject, body, type, from_email, from_name, reply_to, template_id)
    SELECT * FROM unnest(${contents.map((c) => c.projectId)}::uuid[], ${entries.map((e) => e.hash)}::bytea[],
      ${contents.map((c) => c.subject)}::text[], ${contents.map((c) => c.body)}::text[], ${contents.map((c) => c.type)}::text[],
      ${contents.map((c) => c.fromEmail)}::text[], ${contents.map((c) => c.fromName)}::text[],
      ${contents.map((c) => c.replyTo)}::text[], ${contents.map((c) => c.templateId)}::uuid[])
    ON CONFLICT (project_id, hash) DO UPDATE SET type = excluded.type
    RETURNING k.project_id, encode(k.hash, 'hex') AS hash, k.id
  `.execute(db);
  return byKey(rows);
}

function byKey(rows: FoundRow[]): Map<string, string> {
  return new Map(rows.map((row) => [`${row.project_id} ${row.hash}`, row.id]));
}
