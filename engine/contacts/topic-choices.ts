import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { lockContacts } from '../../db/contacts/locks.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { AppError } from '../../rules/errors.ts';
import type { TopicEvent } from '../../rules/events/event-names.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { recordEvents } from '../events/record-events.ts';

/**
 * Stores a contact's choices of topics, and records `topic.joined` and `topic.left` for changed choices. `p.topics` has
 * the choices by topic id. Safe to run twice.
 * @returns the rows to pass to `outbox.wake` after the commit
 * @throws AppError NOT_FOUND for an id that is not a topic of the project
 */
export async function setContactTopics(
  trx: Trx,
  p: {
    projectId: string;
    contactId: string;
    topics: Readonly<Record<string, boolean>>;
    mode: KeyMode;
  },
): Promise<OutboxRow[]> {
  const { projectId, contactId } = p;
  const wanted = new Map(Object.entries(p.topics).map(([id, joined]) => [id.toLowerCase(), joined]));
  if (wanted.size === 0) return [];
  const lockedContacts = await lockContacts(trx, { projectId, ids: [contactId] });
  const ids = [...wanted.keys()].sort();
  const topics = await lockTopics(trx, { projectId, ids });
  const { rows } = await sql<{ topic_id: string; joined: boolean; was: boolean | null }>`
    INSERT INTO topic_choices AS s (project_id, contact_id, topic_id, joined)
    SELECT ${projectId}, ${contactId}, u.id, u.joined
    FROM unnest(${ids}::uuid[], ${ids.map((id) => wanted.get(id))}::bool[]) AS u (id, joined) ORDER BY u.id
    ON CONFLICT (contact_id, topic_id) DO UPDATE SET joined = excluded.joined, updated_at = now()
    RETURNING s.topic_id, s.joined, old.joined AS was
  `.execute(trx);
  const events = rows.flatMap((row) => {
    const topic = topics.get(row.topic_id);
    if (!topic || (row.was ?? topic.default_subscribed) === row.joined) return [];
    const name: TopicEvent = row.joined ? 'topic.joined' : 'topic.left';
    const data = { topicId: row.topic_id, topic: topic.slug, name: topic.name };
    return [{ contactId, name, data, untrusted: false, untrustedTrigger: false, mode: p.mode, causeId: null }];
  });
  const { outbox } = await recordEvents(trx, { projectId, events, lockedContacts });
  return outbox;
}

interface LockedTopic {
  id: string;
  slug: string;
  name: string;
  default_subscribed: boolean;
}

/** Locks these topics, so that no other transaction deletes them before this transaction ends. */
async function lockTopics(trx: Trx, p: { projectId: string; ids: string[] }): Promise<Map<string, LockedTopic>> {
  const { rows } = await sql<LockedTopic>`
    SELECT id, slug, name, default_subscribed FROM topics
    WHERE project_id = ${p.projectId} AND id = ANY(${p.ids}::uuid[]) ORDER BY id FOR KEY SHARE
  `.execute(trx);
  if (rows.length < p.ids.length)
    throw new AppError('NOT_FOUND', { message: 'No topic of this project has an id in topics.' });
  return new Map(rows.map((row) => [row.id, row]));
}
