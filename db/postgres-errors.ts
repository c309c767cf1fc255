/** Classifies errors of Postgres and its driver. */

/**
 * Codes of connections that broke or could not be opened: SQLSTATEs that start with 08 or 57P, too many connections,
 * and network errors.
 */
const AWAY_CODE = /^(08|57P|53300$|ECONN|EPIPE$|ETIMEDOUT$|ENOTFOUND$|EAI_AGAIN$|EHOSTUNREACH$|ENETUNREACH$)/;
/** Messages of the driver and the pool for the same errors, if the errors have no code. */
const AWAY_WORDS = /connection (terminated|timeout|ended)|timeout exceeded when trying to connect|not queryable/i;
/** The SQLSTATEs query_canceled (from statement_timeout) and lock_not_available. */
const OUT_OF_TIME = new Set(['57014', '55P03']);

/** The response to a COMMIT was lost. The transaction is either completely committed or not at all. */
export class UnknownCommit extends Error {
  /** The transaction's id in Postgres. */
  readonly xid: string;

  constructor(xid: string, cause: unknown) {
    super('the connection broke before the answer to COMMIT', { cause });
    this.name = 'UnknownCommit';
    this.xid = xid;
  }
}

/** Returns the SQLSTATE of an error from Postgres. Undefined for other errors. */
export function readSqlState(error: unknown): string | undefined {
  const code = errorCodeOf(error);
  return /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? code : undefined;
}

/**
 * Tells whether the connection to Postgres broke or could not be opened. If this happened before the response to a
 * COMMIT, the transaction may have been committed.
 */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof UnknownCommit) return true;
  return AWAY_CODE.test(errorCodeOf(error)) || AWAY_WORDS.test(error.message);
}

/**
 * Tells whether Postgres cancelled a statement that took too long or waited too long for a lock. The transaction of the
 * statement, or its part since the last savepoint, was rolled back.
 */
export function isOutOfTime(error: unknown): boolean {
  return OUT_OF_TIME.has(readSqlState(error) ?? '');
}

function errorCodeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
