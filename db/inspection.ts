import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Db } from './connection.ts';
import { MIN_SERVER_VERSION } from './migrator.ts';
import type { Database } from './schema/database.ts';

/** The time limits. A person waits for the result, and a server that needs longer has a problem. */
const CONNECT_MS = 5_000;
const STATEMENT_MS = 5_000;

/** Facts about a Postgres server, for the check before the first start. */
export interface ServerFacts {
  /** Such as `18.4`. */
  version: string;
  /** True if the service supports this version. */
  supported: boolean;
  /** `fsync`, `full_page_writes` and `synchronous_commit` as set for this database. */
  durability: Record<(typeof DURABILITY)[number], string>;
  encoding: string;
  /**
   * `maxConnections`: the server's maximum for users. `otherConnections`: the open connections of clients whose
   * application name does not start with `tidings-`.
   */
  maxConnections: number;
  otherConnections: number;
  /** True if this connection is encrypted. */
  encrypted: boolean;
  /**
   * The minimum number of milliseconds by which the server's clock is ahead of this machine's clock. Negative if the
   * server's clock is behind. 0 if the server's time is between this machine's times before and after the query.
   */
  clockAheadMs: number;
}

export const DURABILITY = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;

/** Opens one connection to inspect a database that may not be usable. The caller closes it with `destroy()`. */
export function connectForInspection(databaseUrl: string): Db {
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

/**
 * Reads facts about the server, without reading tables of the service.
 * @throws any error of the connection
 */
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
  const { number, ...facts } = rows[0] ?? throwNoRow();
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

/**
 * Returns the newest encrypted signing key of any project, to check whether SECRET_KEY can decrypt it. Undefined if no
 * key is stored.
 */
export async function findAnySealedKey(db: Db): Promise<{ domainId: string; sealed: string } | undefined> {
  const { rows } = await sql<{ domainId: string; sealed: string }>`
    SELECT id AS "domainId", dkim_private_key AS sealed FROM domains ORDER BY id DESC LIMIT 1`.execute(db);
  return rows[0];
}

async function readClockAhead(db: Db): Promise<number> {
  const askedAt = Date.now();
  const { rows } = await sql<{ now: number }>`
    SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`.execute(db);
  return computeDistanceOutside(rows[0]?.now ?? 0, { from: askedAt, to: Date.now() });
}

/**
 * Returns how far an instant is before (negative) or after (positive) a time span. On a busy machine the span is
 * longer, but the result is still correct.
 */
export function computeDistanceOutside(instant: number, span: { from: number; to: number }): number {
  return Math.min(0, instant - span.from) + Math.max(0, instant - span.to);
}

function throwNoRow(): never {
  throw new Error('Postgres returned no row');
}
