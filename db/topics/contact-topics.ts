import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../connection.ts';

/** A topic, and whether one contact has joined it. */
export interface ContactTopic {
  id: string;
  name: string;
  description: string | null;
  joined: boolean;
}

/**
 * SQL for whether a contact has joined a topic: the contact's choice, or the topic's default. NULL if the topic does
 * not exist.
 */
export function isOnTopicSql(p: {
  contact: RawBuilder<unknown>;
  topic: RawBuilder<unknown>;
}): RawBuilder<boolean | null> {
  return sql<boolean | null>`coalesce(
    (SELECT s.joined FROM topic_choices s WHERE s.contact_id = ${p.contact} AND s.topic_id = ${p.topic}),
    (SELECT t.default_subscribed FROM topics t WHERE t.id = ${p.topic}))`;
}

/** Lists all topics of the project by name, with a contact's choices. */
export async function listContactTopics(db: Db, p: { projectId: string; contactId: string }): Promise<ContactTopic[]> {
  const { rows } = await sql<ContactTopic>`
    SELECT t.id, t.name, t.description, coalesce(s.joined, t.default_subscribed) AS joined
    FROM topics t LEFT JOIN topic_choices s ON s.topic_id = t.id AND s.contact_id = ${p.contactId}
    WHERE t.project_id = ${p.projectId} ORDER BY lower(t.name), t.id
  `.execute(db);
  return rows;
}
