import { sql } from 'kysely';
import type { OutboxKind } from '../../rules/outbox.ts';
import type { Db } from '../connection.ts';

/** Waiting rows of the outbox, of one kind and project. */
export interface Backlog {
  kind: OutboxKind;
  projectId: string;
  /** Rows that nobody has taken. */
  waiting: number;
  /** Rows that Temporal has received and not started. 0 for work that workers do without Temporal. */
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

/** Wraps `readBacklog` for frequent callers. */
export function createBacklogReader(db: Db): () => Promise<Backlog[]> {
  let readAtMs = 0;
  let last: Promise<Backlog[]> = Promise.resolve([]);
  return () => {
    if (Date.now() - readAtMs >= KEPT_MS) {
      readAtMs = Date.now();
      last = readBacklog(db);
      // A failed read is repeated at the next call, and its error reaches its callers.
      last.catch(() => {
        readAtMs = 0;
      });
    }
    return last;
  };
}
