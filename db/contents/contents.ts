import { hash as digest } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { EmailText } from '../../rules/content/email-text.ts';
import type { Db } from '../connection.ts';
import { prepared } from '../prepared.ts';
import type { ContentsTable, EmailType } from '../schema/contents.ts';
import { EMAIL_TEXT_COLUMNS } from '../schema/contents.ts';

/**
 * Text and sender of an email, with its type, template and topic. A content never changes, and the emails of a project
 * with the same values share one content.
 */
export interface NewContent extends EmailText {
  projectId: string;
  type: EmailType;
  templateId: string | null;
  /** Topic of the email. Only MARKETING content has a topic. */
  topicId?: string | null;
}

export interface Content extends NewContent {
  id: string;
}

/** The columns of all fields of a content except its project. All are text except the ids. */
const PARTS = {
  ...EMAIL_TEXT_COLUMNS,
  type: 'type',
  templateId: 'template_id',
  topicId: 'topic_id',
} as const satisfies Record<Exclude<keyof Required<NewContent>, 'projectId'>, keyof ContentsTable>;
type Part = keyof typeof PARTS;

const PART_NAMES = Object.keys(PARTS) as Part[];
const COLUMNS = sql.raw(Object.values(PARTS).join(', '));
const SELECTED = sql.raw(PART_NAMES.map((part) => `${PARTS[part]} AS "${part}"`).join(', '));

/**
 * The fields in the order in which they are hashed. Fields that were added later are hashed only when they have a
 * value, so that the hashes of existing contents stay valid.
 */
const HASHED: readonly Part[] = ['subject', 'body', 'type', 'from', 'fromName', 'replyTo', 'templateId'];
const HASHED_LATER = PART_NAMES.filter((part) => !HASHED.includes(part));

/**
 * Computes the SHA-256 of all fields of a content except the project. Project and hash are the unique key that finds a
 * content with the same fields.
 */
export function computeContentHash(content: NewContent): Buffer {
  const later = HASHED_LATER.flatMap((part) => (content[part] == null ? [] : [[part, content[part]]]));
  return digest('sha256', JSON.stringify([...HASHED.map((part) => content[part]), ...later]), 'buffer');
}

/** Returns the columns of a content, without its id and hash. */
export function toContentRow(content: NewContent): Record<string, string | null> {
  const columns = PART_NAMES.map((part) => [PARTS[part], content[part]]);
  return { ...Object.fromEntries(columns), project_id: content.projectId };
}

/**
 * Stores contents that do not exist yet, and returns the ids of all contents in the order of `contents`. Takes any
 * number of contents of any projects. Safe to run twice. Use the ids in the same transaction and not later: pruning may
 * delete an unused content afterwards (`removeErasedContents`).
 */
export async function saveContents(db: Db, contents: NewContent[]): Promise<string[]> {
  const entries = toEntries(contents);
  const distinct = [...new Set(entries)];
  const found = await findContentIds(db, distinct);
  const missing = distinct.filter(({ key }) => !found.has(key)).sort((a, b) => (a.key < b.key ? -1 : 1));
  for (const [key, id] of await insertContents(db, missing)) found.set(key, id);
  return entries.map(({ key }) => {
    const id = found.get(key);
    if (!id) throw new Error('a saved content is missing from its own result');
    return id;
  });
}

/** Stores one content if it does not exist yet, and returns its id. */
export async function saveContent(db: Db, content: NewContent): Promise<string> {
  const [id] = await saveContents(db, [content]);
  if (!id) throw new Error('a saved content is missing from its own result');
  return id;
}

/** Returns contents by id. */
export async function findContents(db: Db, p: { projectId: string; ids: string[] }): Promise<Map<string, Content>> {
  if (p.ids.length === 0) return new Map();
  const { rows } = await sql<Content>`
    SELECT id, project_id AS "projectId", ${SELECTED} FROM contents WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

interface Entry {
  content: NewContent;
  hash: Buffer;
  key: string;
}

/**
 * Returns the same entry for equal contents. Emails that are accepted at the same time mostly have equal contents, and
 * a comparison costs less than a hash.
 */
function toEntries(contents: NewContent[]): Entry[] {
  const byBody = new Map<string, Entry[]>();
  return contents.map((content) => {
    const alike = byBody.get(content.body) ?? [];
    const known = alike.find((entry) => isSame(entry.content, content));
    if (known) return known;
    const hash = computeContentHash(content);
    const entry = { content, hash, key: keyOf(content.projectId, hash.toString('hex')) };
    byBody.set(content.body, [...alike, entry]);
    return entry;
  });
}

function isSame(a: NewContent, b: NewContent): boolean {
  return a.projectId === b.projectId && PART_NAMES.every((part) => (a[part] ?? null) === (b[part] ?? null));
}

interface FoundRow {
  project_id: string;
  hash: string;
  id: string;
}

async function findContentIds(db: Db, entries: Entry[]): Promise<Map<string, string>> {
  const { rows } = await prepared<FoundRow>`
    SELECT k.project_id, encode(k.hash, 'hex') AS hash, k.id
    FROM unnest(${entries.map((e) => e.content.projectId)}::uuid[], ${entries.map((e) => e.hash)}::bytea[]) AS u (project_id, hash)
    JOIN contents k USING (project_id, hash)
  `.execute(db);
  return mapIdsByKey(rows);
}

async function insertContents(db: Db, entries: Entry[]): Promise<Map<string, string>> {
  if (entries.length === 0) return new Map();
  const contents = entries.map((entry) => entry.content);
  const values = PART_NAMES.map((part) => toColumn(part, contents));
  // DO UPDATE instead of DO NOTHING: if a concurrent transaction inserted the content first, the statement returns that
  // row's id.
  const { rows } = await prepared<FoundRow>`
    INSERT INTO contents AS k (project_id, hash, ${COLUMNS})
    SELECT * FROM unnest(${contents.map((c) => c.projectId)}::uuid[], ${entries.map((e) => e.hash)}::bytea[], ${sql.join(values)})
    ON CONFLICT (project_id, hash) DO UPDATE SET type = excluded.type
    RETURNING k.project_id, encode(k.hash, 'hex') AS hash, k.id
  `.execute(db);
  return mapIdsByKey(rows);
}

function toColumn(part: Part, contents: NewContent[]): RawBuilder<unknown> {
  const type = sql.raw(part === 'templateId' || part === 'topicId' ? 'uuid' : 'text');
  return sql`${contents.map((content) => content[part] ?? null)}::${type}[]`;
}

function mapIdsByKey(rows: FoundRow[]): Map<string, string> {
  return new Map(rows.map((row) => [keyOf(row.project_id, row.hash), row.id]));
}

function keyOf(projectId: string, hashHex: string): string {
  return `${projectId} ${hashHex}`;
}
