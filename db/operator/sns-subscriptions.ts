import { sql } from 'kysely';
import type { Db } from '../connection.ts';

/** A kind of message from an SNS topic. The messages of a topic show the state of its subscription. */
export type SnsMessageKind = 'confirmed' | 'notified' | 'refused';

export interface SnsSubscription {
  topic: string;
  /**
   * `refused`: notifications arrive in a form that the service cannot read, because raw message delivery is on.
   * `waiting`: no message has arrived yet.
   */
  state: 'waiting' | 'confirmed' | 'delivering' | 'refused';
  /** When the message arrived that determines the state. */
  since: Date | null;
}

/** Records that a message of a topic arrived. */
export async function recordSnsMessage(
  db: Db,
  { topic, kind }: { topic: string; kind: SnsMessageKind },
): Promise<void> {
  const column = sql.ref(`${kind}_at`);
  await sql`
    INSERT INTO sns_subscriptions (topic, ${column}) VALUES (${topic}, now())
    ON CONFLICT (topic) DO UPDATE SET ${column} = now()
  `.execute(db);
}

/** Lists the state of the subscription to each topic. The topic's newest message determines the state. */
export async function listSnsSubscriptions(db: Db, topics: readonly string[]): Promise<SnsSubscription[]> {
  const isAsked = sql<boolean>`topic = ANY(${[...topics]}::text[])`;
  const rows = await db.selectFrom('sns_subscriptions').selectAll().where(isAsked).execute();
  const byTopic = new Map(rows.map((row) => [row.topic, row]));
  return topics.map((topic) => {
    const row = byTopic.get(topic);
    const messages = [
      { state: 'refused', since: row?.refused_at ?? null },
      { state: 'delivering', since: row?.notified_at ?? null },
      { state: 'confirmed', since: row?.confirmed_at ?? null },
    ] as const;
    const newest = messages.reduce((one, other) => (getTimeMs(other) > getTimeMs(one) ? other : one));
    return { topic, ...(newest.since ? newest : { state: 'waiting', since: null }) };
  });
}

function getTimeMs({ since }: { since: Date | null }): number {
  return since?.getTime() ?? 0;
}
