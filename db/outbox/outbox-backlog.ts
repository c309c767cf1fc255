import { sql } from 'kysely';
import type { OutboxKind } from '../../rules/outbox.ts';
import type { Db } from '../connection.ts';

/** The number of rows of the outbox, for one kind of work and project. */
export interface Backlog {
  kind: OutboxKind;
  projectId: string;
  /** Rows that are not handed to Temporal: they wait, or a worker does their work without Temporal. */
  waiting: number;
  /** Rows that workers have claimed for Temporal. 0 for work that workers do without Temporal. */
  handedOver: number;
  /** When the oldest row was inserted. */
  oldestAt: Date;
}

/**
 * Lists the rows of the outbox by kind of work and project, the most rows first. Reads the whole outbox, which is
 * nearly empty unless there is a backlog. Call this function at most every few seconds.
 */
export async function readBacklog(db: Db): Promise<Backlog[]> {
  const { rows } = await sql<Backlog>`
    SELECT kind, project_id AS "projectId", count(*) FILTER (WHERE taken_at IS NULL) AS waiting, count(taken_at) AS "handedOver",
      min(created_at) AS "oldestAt"
    FROM outbox GROUP BY kind, project_id ORDER BY count(*) DESC
  `.execute(db);
  return rows;
}

/** The time for which a result is reused, so that frequent probes and scrapes do not each read the outbox. */
const KEPT_MS = 5_000;

/** Returns a version of `readBacklog` for frequent callers, which reuses its last result for `KEPT_MS`. */
export function createBacklogReader(db: Db): () => Promise<Backlog[]> {
  let readAtMs = 0;
  let last: Promise<Backlog[]> = Promise.resolve([]);
  return () => {
    if (Date.now() - readAtMs >= KEPT_MS) {
      readAtMs = Date.now();
      last = readBacklog(db);
      // After a failed read, the next call reads again. All callers that waited for the failed read get its error.
      last.catch(() => {
        readAtMs = 0;
      });
    }
    return last;
  };
}
