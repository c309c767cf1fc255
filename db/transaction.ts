import { sql } from 'kysely';
import { AppError } from '../rules/errors.ts';
import type { Db, Trx } from './connection.ts';
import { joinedTransaction } from './joined-transaction.ts';
import { isConnectionFailure, sqlStateOf, UnknownCommit } from './postgres-errors.ts';
import { awaitFate } from './unknown-commit.ts';

/**
 * Tries of a transaction of which nothing is left for a reason that passes; each starts from nothing, so it is safe.
 */
const MAX_TRIES = 5;
/** deadlock_detected and serialization_failure. */
const RETRYABLE = new Set(['40P01', '40001']);

/** What transactions threw before their COMMIT. */
const thrownBeforeCommit = new WeakSet<Error>();

/**
 * Runs a transaction, and runs it again when Postgres chose it to break a deadlock. `work` must have no effect but in
 * `trx`. Where the answer to COMMIT is lost, Postgres is asked what became of it: what was committed is returned, what
 * was not runs again.
 * @throws UnknownCommit when Postgres cannot tell within seconds; whatever else it throws, nothing of the transaction
 * is left. Within a transaction that `db` has joined it is a part of that one, which can fail by itself.
 */
export async function inTransaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  const joined = joinedTransaction(db);
  if (joined) return inSavepoint(joined, () => work(joined));
  for (let tried = 1; ; tried += 1) {
    const results: T[] = [];
    try {
      return await db.transaction().execute(async (trx) => {
        results.push(await work(trx).catch(noteThrown));
        return results[0] as T;
      });
    } catch (error) {
      const fate = error instanceof UnknownCommit ? await awaitFate(db, error) : undefined;
      if (fate === 'committed') return results[0] as T;
      if (tried >= MAX_TRIES || !(fate === 'aborted' || isRetryable(error))) throw error;
    }
  }
}

/**
 * Runs a part of a transaction that may fail by itself: what it wrote is undone, and the transaction goes on with what
 * the error says.
 */
export async function inSavepoint<T>(trx: Trx, work: () => Promise<T>): Promise<T> {
  await sql`SAVEPOINT part`.execute(trx);
  try {
    const result = await work();
    await sql`RELEASE SAVEPOINT part`.execute(trx);
    return result;
  } catch (error) {
    await sql`ROLLBACK TO SAVEPOINT part`.execute(trx);
    throw error;
  }
}

/**
 * Runs a part of a transaction whose statements have this long each; one that has not fails (`isOutOfTime`), and the
 * transaction goes on.
 */
export function withinMs<T>(trx: Trx, ms: number, work: () => Promise<T>): Promise<T> {
  return inSavepoint(trx, async () => {
    const { rows } = await sql<{ before: string }>`
      SELECT current_setting('statement_timeout') AS before, set_config('statement_timeout', ${String(ms)}, true)
    `.execute(trx);
    const result = await work();
    await sql`SELECT set_config('statement_timeout', ${rows[0]?.before ?? '0'}, true)`.execute(trx);
    return result;
  });
}

/** For the rest of a transaction: who waits longer for a lock fails, and the transaction with it (`isOutOfTime`). */
export async function limitLockWaits(trx: Trx, waitMs: number): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${String(waitMs)}, true)`.execute(trx);
}

/**
 * Whether an error proves that nothing is left of what was to be written: not one of the connection, by which a COMMIT
 * may have been done.
 */
export function provesRollback(error: unknown): boolean {
  if (isConnectionFailure(error)) return false;
  return error instanceof AppError || sqlStateOf(error) !== undefined || thrownBeforeCommit.has(error as Error);
}

function noteThrown(error: unknown): never {
  if (error instanceof Error) thrownBeforeCommit.add(error);
  throw error;
}

function isRetryable(error: unknown): boolean {
  return RETRYABLE.has(sqlStateOf(error) ?? '');
}
