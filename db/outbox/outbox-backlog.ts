import { sql } from 'kysely';
import type { OutboxKind } from '../../rules/outbox.ts';
import type { Db } from '../connection.ts';

/** Waiting rows of the outbox, of one kind and project. */
export interface Backlog {
  kind: OutboxKind;
  projectId: string;
  /** Rows that no process has taken. */
  waiting: number;
  /** Rows that Temporal has received and not started. 0 for work that workers do without Temporal. */
  handedOver: number;
  /** Since when the oldest row waits. */
  oldestAt: Date;
}

/**
 * Lists the waiting rows per kind and project, the most first. Reads the whole outbox, which is empty except for a
 * backlog. Call it every few seconds at most.
 */
export async function readBacklog(db: Db): Promise<Backlog[]> {
  const { rows } = await sql<Backlog>`
    SELECT kind, project_id AS "projectId", count(*) FILTER (WHERE taken_at IS NULL) AS waiting, count(taken_at) AS "handedOver",
      min(created_at) AS "oldestAt"
    FROM outbox GROUP BY kind, project_id ORDER BY count(*) DESC
  `.execute(db);
  return rows;
}

/** Maximum age of a returned backlog, so that the cost of frequent probes and scrapes does not add up. */
const KEPT_MS = 5_000;

/** Wraps `readBacklog` for frequent callers. */
export function createBacklogReader(db: Db): () => Promise<Backlog[]> {
  let readAtMs = 0;
  let last: Promise<Backlog[]> = Promise.resolve([]);
  return () => {
    if (Date.now() - readAtMs >= KEPT_MS) {
      readAtMs = Date.now();
      last = readBacklog(db);
      // After a failed read, the next call reads again. Callers of the failed read get its error.
      last.catch(() => {
        readAtMs = 0;
      });
    }
    return last;
  };
}
