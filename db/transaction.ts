import { sql } from 'kysely';
import { AppError } from '../rules/errors.ts';
import type { Db, Trx } from './connection.ts';
import { findJoinedTransaction } from './joined-transaction.ts';
import { isConnectionFailure, readSqlState, UnknownCommit } from './postgres-errors.ts';
import { awaitCommitOutcome } from './unknown-commit.ts';

/**
 * Maximum number of attempts of a transaction that Postgres aborts for a temporary reason. Repeating is safe, because
 * an aborted transaction changes nothing.
 */
const MAX_ATTEMPTS = 5;
/** The SQLSTATEs deadlock_detected and serialization_failure. */
const RETRYABLE = new Set(['40P01', '40001']);

/** Errors that were thrown in a transaction before its COMMIT. */
const thrownBeforeCommit = new WeakSet<Error>();

/**
 * Runs a transaction, and runs it again if Postgres aborted it because of a deadlock or a serialization failure. `work`
 * must have no effect except in `trx`. If the response to COMMIT is lost, reads the outcome from Postgres: if the
 * transaction was committed, returns its result; if it was aborted, runs it again. If `db` has joined a transaction,
 * `work` becomes a part of that transaction that can fail separately.
 * @throws UnknownCommit when Postgres does not report the outcome within 5 s. After any other error, the transaction
 * has changed nothing
 */
export async function inTransaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  const joined = findJoinedTransaction(db);
  if (joined) return inSavepoint(joined, () => work(joined));
  for (let tried = 1; ; tried += 1) {
    const results: T[] = [];
    try {
      return await db.transaction().execute(async (trx) => {
        results.push(await work(trx).catch(noteThrown));
        return results[0] as T;
      });
    } catch (error) {
      const outcome = error instanceof UnknownCommit ? await awaitCommitOutcome(db, error) : undefined;
      if (outcome === 'committed') return results[0] as T;
      if (tried >= MAX_ATTEMPTS || !(outcome === 'aborted' || isRetryable(error))) throw error;
    }
  }
}

/**
 * Runs a part of a transaction that may fail. If `work` throws, its writes are undone, the error is thrown to the
 * caller, and the transaction can continue.
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
 * Runs a part of a transaction with a time limit for each statement. A statement that exceeds the limit throws an error
 * (`isOutOfTime`), and the transaction can continue.
 */
export function runWithinMs<T>(trx: Trx, ms: number, work: () => Promise<T>): Promise<T> {
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
 * Limits the time for which statements of a transaction wait for a lock. A statement that waits longer fails, and so
 * does the transaction (`isOutOfTime`).
 */
export async function limitLockWaits(trx: Trx, waitMs: number): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${String(waitMs)}, true)`.execute(trx);
}

/**
 * Tells whether an error proves that the transaction was rolled back. A connection error does not prove this, because
 * Postgres may have received the COMMIT.
 */
export function provesRollback(error: unknown): boolean {
  if (isConnectionFailure(error)) return false;
  return error instanceof AppError || readSqlState(error) !== undefined || thrownBeforeCommit.has(error as Error);
}

function noteThrown(error: unknown): never {
  if (error instanceof Error) thrownBeforeCommit.add(error);
  throw error;
}

function isRetryable(error: unknown): boolean {
  return RETRYABLE.has(readSqlState(error) ?? '');
}
