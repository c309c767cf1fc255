import { sql } from 'kysely';
import type { OutboxKind } from '../../rules/outbox.ts';
import type { Db } from '../connection.ts';

/** What waits in the outbox, of one kind and project. */
export interface Backlog {
  kind: OutboxKind;
  projectId: string;
  /** Rows that nobody has taken. */
  waiting: number;
  /** Rows that Temporal has and has not begun; 0 for what workers send themselves. */
  handedOver: number;
  /** Since when the oldest of them is there. */
  oldestAt: Date;
}

/**
 * All that waits, the most first. It reads the whole outbox, which is empty but for a backlog: ask every few seconds at
 * most.
 */
export async function readBacklog(db: Db): Promise<Backlog[]> {
  const { rows } = await sql<Backlog>`
    SELECT kind, project_id AS "projectId", count(*) FILTER (WHERE taken_at IS NULL) AS waiting, count(taken_at) AS "handedOver",
      min(created_at) AS "oldestAt"
    FROM outbox GROUP BY kind, project_id ORDER BY count(*) DESC
  `.execute(db);
  return rows;
}

/** An answer is as old as this at most: probes and scrapes of many do not add up. */
const KEPT_MS = 5_000;

/** `readBacklog` for whoever asks often. */
export function createBacklogReader(db: Db): () => Promise<Backlog[]> {
  let readAtMs = 0;
  let last: Promise<Backlog[]> = Promise.resolve([]);
  return () => {
    if (Date.now() - readAtMs >= KEPT_MS) {
      readAtMs = Date.now();
      last = readBacklog(db);
      // Asked again at once where it failed, and told to whoever asked.
      last.catch(() => {
        readAtMs = 0;
      });
    }
    return last;
  };
}
