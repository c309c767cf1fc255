import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { withPreparedStatements } from './prepared.ts';
import type { Database } from './schema/database.ts';
import { trackCommits } from './unknown-commit.ts';

// int8 values (counts, claims, cursors) are read as doubles, because none exceeds 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);
// A date column is a calendar day. A Date would shift with the host's time zone.
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text);

export interface ConnectionOptions {
  connectionString: string;
  /** Maximum number of connections of this process. */
  max: number;
  applicationName: string;
  /** Postgres ends statements that take longer, including their waits for locks. No limit if omitted. */
  statementTimeoutMs?: number;
  /** Receives the error of an idle connection that broke. The pool replaces the connection automatically. */
  onError: (error: Error) => void;
  /** Called for each response of Postgres, in the caller's async context and before the caller continues. */
  onResponse?: () => void;
}

/** Runs queries on the pool, or on a transaction. */
export type Db = Kysely<Database>;

/** A transaction, for statements that must be in one transaction with other statements of the caller. */
export type Trx = Transaction<Database>;

/** Opens a pool of Postgres connections with the types of the tables. `db.destroy()` closes it. */
export function connect(options: ConnectionOptions): { db: Db; pool: pg.Pool } {
  const { statementTimeoutMs } = options;
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.max,
    application_name: options.applicationName,
    // Long enough for the supervisor to restart Postgres, and short enough that a client of the API gets a 503.
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // Set by a statement, because PgBouncer refuses it as a connection parameter.
    onConnect: async (client) => {
      if (statementTimeoutMs) await client.query(`SET statement_timeout = ${Math.trunc(statementTimeoutMs)}`);
    },
  });
  // Without a listener, an idle connection that Postgres closes would end the process.
  pool.on('error', options.onError);
  // The pool handles errors of idle connections only. The error of a connection that breaks in a transaction, whose
  // query has failed already, would end the process.
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
