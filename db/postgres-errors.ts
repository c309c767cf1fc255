/** Reads errors of Postgres and its driver. */

/**
 * The connection could not be had or broke: class 08 and 57P of SQLSTATE, too many connections, and the network's own.
 */
const AWAY_CODE = /^(08|57P|53300$|ECONN|EPIPE$|ETIMEDOUT$|ENOTFOUND$|EAI_AGAIN$|EHOSTUNREACH$|ENETUNREACH$)/;
/** The driver's and the pool's words for the same, which have no code. */
const AWAY_WORDS = /connection (terminated|timeout|ended)|timeout exceeded when trying to connect|not queryable/i;
/** query_canceled, which is what statement_timeout does, and lock_not_available. */
const OUT_OF_TIME = new Set(['57014', '55P03']);

/** COMMIT was sent and its answer was lost: all that the transaction did is there, or nothing. */
export class UnknownCommit extends Error {
  /** The transaction, as Postgres numbers it. */
  readonly xid: string;

  constructor(xid: string, cause: unknown) {
    super('the connection broke before the answer to COMMIT', { cause });
    this.name = 'UnknownCommit';
    this.xid = xid;
  }
}

/** The SQLSTATE by which Postgres refused a statement; undefined for what Postgres did not say. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = codeOf(error);
  return /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('E') ? code : undefined;
}

/**
 * Whether Postgres was away or went away, also before it had answered a COMMIT: then it says nothing of whether that
 * was done.
 */
export function isConnectionFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof UnknownCommit) return true;
  return AWAY_CODE.test(codeOf(error)) || AWAY_WORDS.test(error.message);
}

/**
 * Whether Postgres stopped a statement that took too long, or waited too long for a lock. Its transaction left nothing.
 */
export function isOutOfTime(error: unknown): boolean {
  return OUT_OF_TIME.has(sqlStateOf(error) ?? '');
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
