import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Db } from './connection.ts';
import { MIN_SERVER_VERSION } from './migrator.ts';
import type { Database } from './schema/database.ts';

/** Somebody waits for the answer; a server that needs longer has something to be said about anyway. */
const CONNECT_MS = 5_000;
const STATEMENT_MS = 5_000;

/** What a look at a Postgres server tells of it. */
export interface ServerFacts {
  /** As `18.4`. */
  version: string;
  /** Whether it is new enough for us. */
  supported: boolean;
  /** `fsync`, `full_page_writes`, `synchronous_commit`, as this database has them. */
  durability: Record<(typeof DURABILITY)[number], string>;
  encoding: string;
  /** Connections that users may open in all, and those that are open and not ours. */
  maxConnections: number;
  otherConnections: number;
  /** Whether this connection is encrypted. */
  encrypted: boolean;
  /**
   * How far its clock is ahead of ours at the least, in milliseconds: 0 where it said a time between question and
   * answer.
   */
  clockAheadMs: number;
}

export const DURABILITY = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;

/** One connection for a look at a database that may not be fit for us. Close it by `destroy()`. */
export function openInspection(databaseUrl: string): Db {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 1,
    application_name: 'tidings-doctor',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
  });
  pool.on('error', () => {});
  return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
}

/** Looks at the server itself; reads none of our tables. @throws what the connection throws */
export async function readServerFacts(db: Db): Promise<ServerFacts> {
  const { rows } = await sql<Omit<ServerFacts, 'supported' | 'clockAheadMs' | 'durability'> & { number: number }>`
    SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
      current_setting('server_version_num')::int AS number,
      current_setting('server_encoding') AS encoding,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS "maxConnections",
      (SELECT count(*)::int FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND application_name NOT LIKE 'tidings-%') AS "otherConnections",
      COALESCE((SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS encrypted
  `.execute(db);
  const { number, ...facts } = rows[0] ?? raise();
  const { rows: settings } = await sql<{ name: (typeof DURABILITY)[number]; setting: string }>`
    SELECT name, setting FROM pg_settings WHERE name IN (${sql.join([...DURABILITY])})`.execute(db);
  const durability = Object.fromEntries(settings.map(({ name, setting }) => [name, setting]));
  return {
    ...facts,
    supported: number >= MIN_SERVER_VERSION,
    durability: durability as ServerFacts['durability'],
    clockAheadMs: await readClockAhead(db),
  };
}

/** The newest sealed secret of any project, to try whether SECRET_KEY opens it; undefined where there is none. */
export async function findAnySealedKey(db: Db): Promise<{ domainId: string; sealed: string } | undefined> {
  const { rows } = await sql<{ domainId: string; sealed: string }>`
    SELECT id AS "domainId", dkim_private_key AS sealed FROM domains ORDER BY id DESC LIMIT 1`.execute(db);
  return rows[0];
}

async function readClockAhead(db: Db): Promise<number> {
  const askedAt = Date.now();
  const { rows } = await sql<{ now: number }>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`.execute(db);
  return outside(rows[0]?.now ?? 0, { from: askedAt, to: Date.now() });
}

/**
 * How far an instant lies before (negative) or after a span; a busy machine makes the span longer, not the answer
 * wrong.
 */
export function outside(instant: number, span: { from: number; to: number }): number {
  return Math.min(0, instant - span.from) + Math.max(0, instant - span.to);
}

function raise(): never {
  throw new Error('Postgres answered without a row');
}
