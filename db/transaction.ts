import { sql } from 'kysely';
import { AppError } from '../rules/errors.ts';
import type { Db, Trx } from './connection.ts';
import { joinedTransaction } from './joined-transaction.ts';
import { isConnectionFailure, sqlStateOf, UnknownCommit } from './postgres-errors.ts';
import { awaitCommitOutcome } from './unknown-commit.ts';

/**
 * Maximum number of attempts of a transaction that Postgres aborted for a temporary reason. An aborted transaction
 * leaves nothing, so repeating it is safe.
 */
const MAX_ATTEMPTS = 5;
/** deadlock_detected and serialization_failure. */
const RETRYABLE = new Set(['40P01', '40001']);

/** Errors that transactions threw before their COMMIT. */
const thrownBeforeCommit = new WeakSet<Error>();

/**
 * Runs a transaction, and runs it again when Postgres aborted it to break a deadlock. `work` must have no effect except
 * in `trx`. If the response to COMMIT is lost, Postgres is asked for the outcome: a committed result is returned, and
 * an aborted transaction runs again.
 * @throws UnknownCommit when Postgres cannot tell within seconds; after any other error, nothing of the transaction
 * remains. If `db` has joined a transaction, `work` becomes a part of that transaction that can fail separately.
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
      const fate = error instanceof UnknownCommit ? await awaitCommitOutcome(db, error) : undefined;
      if (fate === 'committed') return results[0] as T;
      if (tried >= MAX_ATTEMPTS || !(fate === 'aborted' || isRetryable(error))) throw error;
    }
  }
}

/**
 * Runs a part of a transaction that may fail separately: its writes are undone, and the transaction continues with
 * the error.
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
 * Runs a part of a transaction with a time limit per statement. A statement that exceeds it fails (`isOutOfTime`),
 * and the transaction continues.
 */
export function withinMs<T>(trx: Trx, ms: number, work: () => Promise<T>): Promise<T> {
  return inSavepoint(trx, async () => {
    const { rows } = await sql<{ before: string; set_config: string }>`
      SELECT current_setting('statement_timeout') AS before, set_config('statement_timeout', ${String(ms)}, true)
    `.execute(trx);
    const result = await work();
    await sql`SELECT set_config('statement_timeout', ${rows[0]?.before ?? '0'}, true)`.execute(trx);
    return result;
  });
}

/**
 * Limits lock waits for the rest of a transaction. A longer wait fails the statement and the transaction
 * (`isOutOfTime`).
 */
export async function limitLockWaits(trx: Trx, waitMs: number): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${String(waitMs)}, true)`.execute(trx);
}

/**
 * Tells whether an error proves that nothing was written. Connection errors do not, because the COMMIT may have been
 * done.
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
