import { type RawBuilder, sql } from 'kysely';
import type { Condition } from '../../rules/filters/filters.ts';
import type { Db } from '../connection.ts';
import { CONTACT_COLUMNS, type Contact, type ContactRow, toContact } from '../contacts/contacts.ts';
import { compileCondition } from './filter-sql.ts';
import { loadConditionSources } from './sources.ts';

/** Number of matching contacts that the preview shows. */
const SAMPLE_CONTACTS = 10;
/** The number of newest contacts that are searched first. The search takes tens of milliseconds. */
const NEWEST_CONTACTS = 20_000;

export interface ConditionPreview {
  /** Number of contacts that match the condition now. */
  count: number;
  /** The newest matching contacts. */
  sample: Contact[];
}

/**
 * Previews a condition: counts the matching contacts and returns the newest of them. First searches the newest
 * contacts, which usually include ten matches if the condition matches many contacts. If there are fewer than ten
 * matches among the newest contacts, the query that counts all matches also returns the newest matches, so all contacts
 * are read only once.
 * @throws AppError CONFLICT for segments that refer to each other in a cycle
 */
export async function previewCondition(
  db: Db,
  { projectId, condition }: { projectId: string; condition: Condition },
): Promise<ConditionPreview> {
  const { segments, zone } = await loadConditionSources(db, { projectId, condition });
  const predicate = compileCondition(condition, { projectId, now: new Date(), segments, zone });
  const query = { projectId, predicate };
  const newest = await findMatchesAmongNewest(db, query);
  if (newest.length === SAMPLE_CONTACTS)
    return { count: await countMatches(db, query), sample: await readSample(db, { projectId, ids: newest }) };
  const { total, ids } = await countAndFind(db, query);
  return { count: total, sample: await readSample(db, { projectId, ids }) };
}

interface PreviewQuery {
  projectId: string;
  predicate: RawBuilder<boolean>;
}

async function findMatchesAmongNewest(db: Db, { projectId, predicate }: PreviewQuery): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT contacts.id FROM (
      SELECT * FROM contacts WHERE project_id = ${projectId} ORDER BY id DESC LIMIT ${NEWEST_CONTACTS}) AS contacts
    WHERE ${predicate} ORDER BY contacts.id DESC LIMIT ${SAMPLE_CONTACTS}`.execute(db);
  return rows.map(({ id }) => id);
}

async function countMatches(db: Db, { projectId, predicate }: PreviewQuery): Promise<number> {
  const { rows } = await sql<{ total: number }>`
    SELECT count(*) AS total FROM contacts WHERE project_id = ${projectId} AND ${predicate}`.execute(db);
  return rows[0]?.total ?? 0;
}

async function countAndFind(db: Db, { projectId, predicate }: PreviewQuery): Promise<{ total: number; ids: string[] }> {
  const { rows } = await sql<{ total: number; ids: string[] }>`
    SELECT total, ARRAY(SELECT id FROM unnest(ids) AS id ORDER BY id DESC LIMIT ${SAMPLE_CONTACTS}) AS ids
    FROM (SELECT count(*) AS total, array_agg(id) AS ids FROM contacts WHERE project_id = ${projectId} AND ${predicate}) AS found
  `.execute(db);
  return rows[0] ?? { total: 0, ids: [] };
}

async function readSample(db: Db, p: { projectId: string; ids: string[] }): Promise<Contact[]> {
  if (p.ids.length === 0) return [];
  const { rows } = await sql<ContactRow>`
    SELECT ${CONTACT_COLUMNS} FROM contacts WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[])
    ORDER BY id DESC`.execute(db);
  return rows.map(toContact);
}
