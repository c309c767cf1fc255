import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Kysely,
  type PostgresCursor,
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQueryResult,
  sql,
} from 'kysely';
import { isConnectionFailure, readSqlState, UnknownCommit } from './postgres-errors.ts';
import type { Database } from './schema/database.ts';

/**
 * Starts a transaction and reads its id in one round trip. By this id, Postgres can report the outcome even after the
 * connection was lost.
 */
const BEGIN = 'BEGIN; SELECT pg_current_xact_id()::text AS xid';
/**
 * How long to ask Postgres for the outcome of a transaction. The time is long enough for a restart of Postgres by the
 * supervisor, and short enough that the caller of the API still waits for the response.
 */
const LOOK_UP_MS = 5_000;
const LOOK_UP_PAUSE_MS = 50;

/**
 * Outcome of a transaction. `undefined`: the transaction has not ended, Postgres is unreachable, or Postgres no longer
 * has the outcome.
 */
export type CommitOutcome = 'committed' | 'aborted' | undefined;

/** Asks Postgres once for the outcome. A transaction whose connection was lost may still be committing. */
export async function findCommitOutcome(db: Kysely<Database>, { xid }: UnknownCommit): Promise<CommitOutcome> {
  const { rows } = await sql<{ fate: string | null }>`SELECT pg_xact_status(${xid}::xid8) AS fate`.execute(db);
  const fate = rows[0]?.fate;
  return fate === 'committed' || fate === 'aborted' ? fate : undefined;
}

/**
 * Asks repeatedly until the outcome is known, for at most 5 s. Returns undefined if the outcome is still unknown then.
 * @throws `unknown` if the query for the outcome fails for another reason than the connection
 */
export async function awaitCommitOutcome(db: Kysely<Database>, unknown: UnknownCommit): Promise<CommitOutcome> {
  const untilMs = Date.now() + LOOK_UP_MS;
  while (true) {
    const fate = await findCommitOutcome(db, unknown).catch((error: unknown) => {
      if (isConnectionFailure(error)) return undefined;
      throw unknown;
    });
    if (fate || Date.now() >= untilMs) return fate;
    await sleep(LOOK_UP_PAUSE_MS);
  }
}

/**
 * Wraps a pool so that the outcome of a transaction can be found when the response to its COMMIT is lost. In that case,
 * COMMIT fails with UnknownCommit. ROLLBACK on a broken connection succeeds, because Postgres rolls the transaction
 * back anyway; callers then get the original error.
 */
export function trackCommits(pool: PostgresPool): PostgresPool {
  const clients = new WeakMap<PostgresPoolClient, PostgresPoolClient>();
  return {
    connect: async () => {
      const client = await pool.connect();
      const known = clients.get(client) ?? wrapClient(client);
      clients.set(client, known);
      return known;
    },
    end: () => pool.end(),
  };
}

function wrapClient(client: PostgresPoolClient): PostgresPoolClient {
  let xid = '';

  async function begin(): Promise<PostgresQueryResult<unknown>> {
    try {
      // For a text with two statements, the driver returns two results, which Kysely's type does not declare.
      const results = (await client.query(BEGIN, [])) as unknown as [unknown, PostgresQueryResult<{ xid: string }>];
      xid = results[1].rows[0]?.xid ?? '';
      return results[1];
    } catch (error) {
      // Postgres may have executed BEGIN, and Kysely rolls back only transactions whose BEGIN succeeded.
      await rollback();
      throw error;
    }
  }

  async function commit(): Promise<PostgresQueryResult<unknown>> {
    try {
      return await client.query('COMMIT', []);
    } catch (error) {
      throw readSqlState(error) && !isConnectionFailure(error) ? error : new UnknownCommit(xid, error);
    }
  }

  function rollback(): Promise<PostgresQueryResult<unknown>> {
    return client
      .query('ROLLBACK', [])
      .catch((): PostgresQueryResult<unknown> => ({ command: 'ROLLBACK', rowCount: 0, rows: [] }) as never);
  }

  function query<R>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  function query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  function query(text: string | PostgresCursor<unknown>, values: readonly unknown[] = []): unknown {
    if (typeof text !== 'string') return client.query(text);
    if (text === 'begin') return begin();
    if (text === 'commit') return commit();
    if (text === 'rollback') return rollback();
    return client.query(text, values);
  }
  return { query, release: () => client.release() };
}
