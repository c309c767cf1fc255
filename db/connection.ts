import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { withPreparedStatements } from './prepared.ts';
import type { Database } from './schema/database.ts';
import { trackCommits } from './unknown-commit.ts';

// The driver returns int8 values (counts, claims, cursors) as numbers, because none of them exceeds 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
// The driver returns a date column as text, because it is a calendar day. A Date would depend on the host's time zone.
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);

export interface ConnectionOptions {
  connectionString: string;
  /** Maximum number of connections of this pool. */
  max: number;
  applicationName: string;
  /** Postgres cancels statements that take longer, including the time that they wait for locks. No limit if absent. */
  statementTimeoutMs?: number;
  /** Receives the error of an idle connection that broke. The pool replaces the connection automatically. */
  onError: (error: Error) => void;
  /** Called after each successful query, in the async context of the query's caller and before the caller continues. */
  onResponse?: () => void;
}

/** Runs queries on the pool, or on a transaction. */
export type Db = Kysely<Database>;

/** A transaction. Functions that take a `Trx` run their statements in the caller's transaction. */
export type Trx = Transaction<Database>;

/** Opens a pool of Postgres connections with the types of the tables. `db.destroy()` closes it. */
export function connect(options: ConnectionOptions): { db: Db; pool: pg.Pool } {
  const { statementTimeoutMs } = options;
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.max,
    application_name: options.applicationName,
    // Long enough for the supervisor to restart Postgres, and short enough that a caller of the API gets a 503 and not
    // a timeout.
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // Set by a statement, because PgBouncer refuses this setting as a connection parameter.
    onConnect: async (client) => {
      if (statementTimeoutMs) await client.query(`SET statement_timeout = ${Math.trunc(statementTimeoutMs)}`);
    },
  });
  // Without a listener, an idle connection that Postgres closes would end the process.
  pool.on('error', options.onError);
  // The pool only handles errors of idle connections. If a connection breaks during a transaction after a query has
  // failed, its error would end the process without this listener.
  pool.on('connect', (client) => client.on('error', () => {}));
  return {
    db: new Kysely<Database>({
      dialect: new PostgresDialect({ pool: trackCommits(withPreparedStatements(pool, options.onResponse)) }),
    }),
    pool,
  };
}

/** Checks whether Postgres accepts queries, for readiness. Throws if it does not. */
export async function ping(db: Db): Promise<void> {
  await sql`SELECT 1`.execute(db);
}
