import { sql } from 'kysely';
import type { Db } from '../connection.ts';

/** The state of the Postgres server, for the operator's page. */
export interface PostgresFacts {
  version: string;
  /** Open connections of all clients of the server. */
  connections: number;
  maxConnections: number;
  databaseBytes: number;
  /**
   * Age in seconds of the oldest open transaction of this database. While a transaction is open, vacuum cannot remove
   * the rows that other transactions have deleted since it started.
   */
  longestTransactionSeconds: number;
}

/** Reads the state of the Postgres server from its system views. Reads no table of the service. */
export async function readPostgresFacts(db: Db): Promise<PostgresFacts> {
  const { rows } = await sql<PostgresFacts>`
    SELECT current_setting('server_version') AS version,
      (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
      current_setting('max_connections')::int AS "maxConnections",
      pg_database_size(current_database()) AS "databaseBytes",
      (SELECT coalesce(max(extract(epoch FROM now() - xact_start)), 0)::float8 FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()) AS "longestTransactionSeconds"
  `.execute(db);
  const [facts] = rows;
  if (!facts) throw new Error('Postgres returned no row about itself');
  return facts;
}

/** The state of the outbox for one kind of work. */
export interface OutboxFacts {
  kind: string;
  /** Rows that are not handed to Temporal: they wait, or a worker does their work without Temporal. */
  waiting: number;
  /** Rows that workers have claimed for Temporal, and whose start Temporal has not confirmed. */
  handedOver: number;
  /** Age of the oldest row. */
  oldestSeconds: number;
  /** Number of projects that have such rows. */
  projects: number;
  /** Rows with at least one failed attempt. */
  failing: number;
  /** The error of the newest of these rows. */
  lastError: string | null;
}

/**
 * Lists the rows of the outbox by kind of work, the kind with the most rows first. Reads the whole outbox, as the
 * metrics do.
 */
export async function readOutboxFacts(db: Db): Promise<OutboxFacts[]> {
  const { rows } = await sql<OutboxFacts>`
    SELECT kind, count(*) FILTER (WHERE taken_at IS NULL) AS waiting, count(taken_at) AS "handedOver",
      greatest(0, extract(epoch FROM now() - min(created_at)))::float8 AS "oldestSeconds", count(DISTINCT project_id) AS projects,
      count(last_error) AS failing, (array_agg(last_error ORDER BY id DESC) FILTER (WHERE last_error IS NOT NULL))[1] AS "lastError"
    FROM outbox GROUP BY kind ORDER BY count(*) DESC, kind
  `.execute(db);
  return rows;
}
