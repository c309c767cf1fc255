/**
 * Recognizes clones and restored databases before anything is sent. Postgres and Temporal both store a token, which is
 * renewed once a minute. A worker first writes a new token to Postgres as unconfirmed, then to Temporal, and then marks
 * it as confirmed in Postgres. If the worker is killed between these writes, Temporal has the last confirmed token or
 * the newest token. Temporal never has a token that Postgres lacks.
 */

/** The values of the variable INSTALLATION. */
export const INSTALLATION_CHOICES = ['take-over', 'new'] as const;
export type InstallationChoice = (typeof INSTALLATION_CHOICES)[number];

/**
 * Why nothing is sent. `new`: the database is a clone, and an operator must resume sending. `recovery`: the recovery
 * after a restore has not ended.
 */
export type SendingHold = 'new' | 'recovery';

/**
 * Identifies a database. A restored dump has another oid, and another Postgres server has another system identifier.
 */
export interface DatabaseMark {
  /** The `system_identifier` of the Postgres server. Null if the role of the service may not read it. */
  systemIdentifier: string | null;
  oid: number;
}

export interface InstallationToken {
  no: number;
  /**
   * A random UUID. If two databases continue from the same token, their next tokens have the same number but different
   * values.
   */
  value: string;
  /** ISO 8601. */
  rolledAt: string;
  /** The database that wrote the token. */
  database: DatabaseMark;
}

/** A token in Temporal. */
export interface TemporalToken extends InstallationToken {
  /** The value of INSTALLATION that has resolved a mismatch. Removed when a process starts without INSTALLATION. */
  resolvedBy?: InstallationChoice | null;
}

/** A token in Postgres. */
export interface PostgresToken extends InstallationToken {
  /** True if Temporal has the token, too. */
  confirmed: boolean;
}

/**
 * The result of comparing the tokens in Postgres and Temporal.
 * - `agree`: the tokens do not show that Postgres or Temporal was restored or copied.
 * - `temporal-behind`, `temporal-empty`: Temporal was restored from a backup, or lost its data. Recovery rebuilds the
 * workflows from Postgres.
 * - `database-behind`: the database is a restored backup, or a clone.
 * - `database-foreign`: the database is a copy of the database that wrote the token.
 * - `diverged`: two databases have continued from the same token.
 */
export type TokenComparison =
  | 'agree'
  | 'temporal-behind'
  | 'temporal-empty'
  | 'database-behind'
  | 'database-foreign'
  | 'diverged';

/**
 * The results after which nothing may be sent until an operator decides whether the database is the original or a
 * clone.
 */
export type Mismatch = Exclude<TokenComparison, 'agree' | 'temporal-behind' | 'temporal-empty'>;

/** The tokens that Postgres and Temporal store, and the database that this process uses. */
export interface TokenState {
  /** The tokens of Postgres, newest first; empty before the first start. */
  tokens: readonly PostgresToken[];
  /** The database that this process uses. */
  database: DatabaseMark;
  /** The token of Temporal; null if Temporal has no token, undefined if it does not respond. */
  temporal: TemporalToken | null | undefined;
}

/**
 * Compares the tokens in Postgres and Temporal. While Temporal does not respond, only checks that this database wrote
 * the newest token in Postgres.
 */
export function compareInstallationTokens({ tokens, database, temporal }: TokenState): TokenComparison {
  const [newest] = tokens;
  if (newest === undefined) return temporal ? 'database-behind' : 'agree';
  const comparison = compareTokens(tokens, temporal);
  if (isMismatch(comparison)) return comparison;
  if (!isSameDatabase(newest.database, database)) return 'database-foreign';
  // Postgres keeps the tokens of only one day. For an older token, only Temporal's copy shows which database wrote it.
  const isKnown = !temporal || tokens.some(({ no }) => no === temporal.no);
  return isKnown || isSameDatabase(temporal.database, database) ? comparison : 'database-foreign';
}

function compareTokens(tokens: readonly PostgresToken[], temporal: TemporalToken | null | undefined): TokenComparison {
  const confirmedNo = tokens.find(({ confirmed }) => confirmed)?.no ?? 0;
  if (temporal === undefined) return 'agree';
  if (temporal === null) return confirmedNo > 0 ? 'temporal-empty' : 'agree';
  if (temporal.no > (tokens[0]?.no ?? 0)) return 'database-behind';
  const same = tokens.find(({ no }) => no === temporal.no);
  if (same && same.value !== temporal.value) return 'diverged';
  return temporal.no < confirmedNo ? 'temporal-behind' : 'agree';
}

export function isMismatch(comparison: TokenComparison): comparison is Mismatch {
  return comparison === 'database-behind' || comparison === 'database-foreign' || comparison === 'diverged';
}

function isSameDatabase(one: DatabaseMark, other: DatabaseMark): boolean {
  const isSameServer =
    one.systemIdentifier === null || other.systemIdentifier === null || one.systemIdentifier === other.systemIdentifier;
  return isSameServer && one.oid === other.oid;
}

/** A process cannot start because of a mismatch. The message is one line for the operator. */
export class InstallationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'InstallationError';
  }
}

const REASONS: Record<Mismatch, string> = {
  'database-behind': 'This database is older than what Temporal has recorded of it: a restored backup, or a clone',
  'database-foreign':
    'This database is a copy of the one that the installation last ran on: a restored dump, or a clone',
  diverged: 'This database and Temporal have continued separately: one of them is a restored backup, or a clone',
};

/**
 * Returns a line that describes a mismatch, and the two values of INSTALLATION with which the operator can continue.
 * @param resolvedChoice the value of INSTALLATION, if it is set and has resolved an earlier mismatch
 */
export function describeMismatch(
  mismatch: Mismatch,
  tokenState: TokenState,
  resolvedChoice?: InstallationChoice,
): string {
  const state = `Postgres ${describeToken(tokenState.tokens[0])}, Temporal ${describeToken(tokenState.temporal)}`;
  const choices =
    'Start with INSTALLATION=take-over if it is the original, restored or moved, or with INSTALLATION=new if it is a clone';
  const restartHint =
    resolvedChoice === undefined
      ? ''
      : ` INSTALLATION=${resolvedChoice} has resolved an earlier mismatch, and resolves only one: start once without it first.`;
  return `${REASONS[mismatch]} (${state}). Nothing is sent. ${choices}.${restartHint}`;
}

function describeToken(token: InstallationToken | null | undefined): string {
  if (token === undefined) return 'unknown';
  return token ? `token ${token.no} of ${token.rolledAt}` : 'no token';
}

/**
 * The time between the last token in Postgres and the last token in Temporal. Only one of the two has a record of what
 * the service did in this time.
 */
export interface LostWindow {
  from: Date;
  to: Date;
}

/**
 * Extends the window at its end, because the service may have acted after the last token. A token is renewed once a
 * minute.
 */
const WINDOW_MARGIN_MS = 2 * 60_000;

/**
 * Returns the time whose changes are missing in a restored database. The window starts at the last token in the
 * database. It ends at Temporal's last token, or now if that token is not later.
 */
export function findLostWindow({ tokens, temporal }: TokenState, now: Date): LostWindow {
  const from = tokens[0] ? new Date(tokens[0].rolledAt) : new Date(temporal ? temporal.rolledAt : now);
  const until = temporal ? Date.parse(temporal.rolledAt) : now.getTime();
  const to = until > from.getTime() ? until : now.getTime();
  return { from, to: new Date(Math.min(now.getTime(), to + WINDOW_MARGIN_MS)) };
}
