import { sql, type Transaction } from 'kysely';
import type { Db } from './connection.ts';
import type { Database } from './schema.ts';

/** Tries of a transaction that Postgres ended to break a deadlock; each try starts from nothing, so it is safe. */
const MAX_TRIES = 5;
/** deadlock_detected and serialization_failure. */
const RETRYABLE = new Set(['40P01', '40001']);

/** Runs a transaction, and runs it again when Postgres chose it to break a deadlock. `work` must have no effect but in `trx`. */
export async function inTransaction<T>(db: Db, work: (trx: Transaction<Database>) => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (tried >= MAX_TRIES || !isRetryable(error)) throw error;
    }
  }
}

/** Runs a part of a transaction that may fail by itself: what it wrote is undone, and the transaction goes on with what the error says. */
export async function inSavepoint<T>(trx: Transaction<Database>, work: () => Promise<T>): Promise<T> {
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

function isRetryable(error: unknown): boolean {
  return error instanceof Error && RETRYABLE.has(String((error as { code?: unknown }).code));
}

/** Whether Postgres was away or went away: class 08 and 57P of SQLSTATE, and what the driver says of a socket that broke or could not be had. */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  return (
    /^(08|57P|ECONN|EPIPE|ETIMEDOUT)/.test(code) ||
    /connection (terminated|timeout|ended)|timeout exceeded/i.test(error.message)
  );
}
