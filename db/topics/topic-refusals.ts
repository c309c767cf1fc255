/**
 * Stores that a person has left a topic, for addresses that no contact has now. A row has the keyed hash of the
 * address.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';
import type { ContactTopic } from './contact-topics.ts';

/**
 * Stores the topics that these contacts have left, and deletes stored refusals of topics that they have joined. Safe to
 * run twice.
 */
export async function storeTopicRefusals(
  trx: Trx,
  { projectId, contacts }: { projectId: string; contacts: readonly { id: string; hash: Buffer }[] },
): Promise<void> {
  await sql`
    WITH choices AS (
      SELECT u.hash, s.topic_id, s.joined
      FROM unnest(${contacts.map(({ id }) => id)}::uuid[], ${contacts.map(({ hash }) => hash)}::bytea[]) AS u (id, hash)
      JOIN topic_choices s ON s.contact_id = u.id AND s.project_id = ${projectId}),
    joined AS (
      DELETE FROM topic_refusals r USING choices
      WHERE r.project_id = ${projectId} AND r.address_hash = choices.hash AND r.topic_id = choices.topic_id AND choices.joined)
    INSERT INTO topic_refusals (project_id, address_hash, topic_id)
    SELECT ${projectId}, hash, topic_id FROM choices WHERE NOT joined ORDER BY hash, topic_id
    ON CONFLICT DO NOTHING
  `.execute(trx);
}

/** Stores a person's choice of topics for addresses that no contact has. Safe to run twice. */
export async function setTopicRefusals(
  trx: Trx,
  p: { projectId: string; hashes: readonly Buffer[]; topics: Readonly<Record<string, boolean>> },
): Promise<void> {
  const left = Object.keys(p.topics).filter((id) => p.topics[id] === false);
  const joined = Object.keys(p.topics).filter((id) => p.topics[id] === true);
  const hashes = sql`unnest(${[...p.hashes]}::bytea[]) AS h (hash)`;
  await sql`
    DELETE FROM topic_refusals
    WHERE project_id = ${p.projectId} AND address_hash = ANY(${[...p.hashes]}::bytea[]) AND topic_id = ANY(${joined}::uuid[])
  `.execute(trx);
  await sql`
    INSERT INTO topic_refusals (project_id, address_hash, topic_id)
    SELECT t.project_id, h.hash, t.id FROM topics t, ${hashes}
    WHERE t.project_id = ${p.projectId} AND t.id = ANY(${left}::uuid[]) ORDER BY h.hash, t.id
    ON CONFLICT DO NOTHING
  `.execute(trx);
}

/**
 * Lists all topics of the project by name. `joined` tells whether a new contact with one of these addresses would have
 * joined the topic.
 */
export async function listAddressTopics(
  db: Db,
  { projectId, hashes }: { projectId: string; hashes: readonly Buffer[] },
): Promise<ContactTopic[]> {
  const { rows } = await sql<ContactTopic>`
    SELECT t.id, t.name, t.description, t.default_subscribed AND ${hasNoTopicRefusalSql(hashes)} AS joined
    FROM topics t WHERE t.project_id = ${projectId} ORDER BY lower(t.name), t.id
  `.execute(db);
  return rows;
}

/** SQL condition that none of the addresses has left the topic `t`. */
export function hasNoTopicRefusalSql(hashes: readonly Buffer[]): RawBuilder<boolean> {
  return sql<boolean>`NOT EXISTS (
    SELECT FROM topic_refusals r
    WHERE r.project_id = t.project_id AND r.topic_id = t.id AND r.address_hash = ANY(${[...hashes]}::bytea[]))`;
}
