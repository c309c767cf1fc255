/**
 * Recognizes clones and restored databases before anything is sent. Postgres and Temporal both keep a token that is
 * renewed once a minute. Postgres writes each token first and unconfirmed, then Temporal gets it, then Postgres
 * confirms it. So a kill between the writes leaves Temporal at the last confirmed token or at the newest one, and never
 * ahead.
 */

/** The values of the variable INSTALLATION. */
export const INSTALLATION_CHOICES = ['take-over', 'new'] as const;
export type InstallationChoice = (typeof INSTALLATION_CHOICES)[number];

/** Why nothing is sent: `new` waits for an operator, `recovery` for the end of the recovery. */
export type SendingHold = 'new' | 'recovery';

/** Identifies a database. A restored dump gets another oid, and another server has another identifier. */
export interface DatabaseMark {
  /** `system_identifier` of the server; null if our role may not read it. */
  systemIdentifier: string | null;
  oid: number;
}

export interface InstallationToken {
  no: number;
  /** A random UUID, which differs between two databases that continued from the same token. */
  value: string;
  /** ISO 8601. */
  rolledAt: string;
  /** The database that wrote it. */
  database: DatabaseMark;
}

/** A token in Temporal. */
export interface TemporalToken extends InstallationToken {
  /** The value of INSTALLATION that has resolved a mismatch, until a process starts without it. */
  resolvedBy?: InstallationChoice | null;
}

/** A token in Postgres. */
export interface PostgresToken extends InstallationToken {
  /** Whether Temporal has it, too. */
  confirmed: boolean;
}

/**
 * The result of comparing the two sides.
 * - `agree`: both are where the service left them.
 * - `temporal-behind`, `temporal-empty`: Temporal was restored or lost; recovery rebuilds it from Postgres.
 * - `database-behind`: the database is a restored backup, or a clone.
 * - `database-foreign`: a copy of the database that wrote the token.
 * - `diverged`: two databases continued from the same token.
 */
export type TokenComparison =
  | 'agree'
  | 'temporal-behind'
  | 'temporal-empty'
  | 'database-behind'
  | 'database-foreign'
  | 'diverged';

/** Results after which nothing may be sent until an operator has decided what this database is. */
export type Mismatch = Exclude<TokenComparison, 'agree' | 'temporal-behind' | 'temporal-empty'>;

export interface Sides {
  /** The tokens of Postgres, newest first; empty before the first start. */
  tokens: readonly PostgresToken[];
  /** The database that this process uses. */
  database: DatabaseMark;
  /** The token of Temporal; null if Temporal has no token, undefined if it does not respond. */
  temporal: TemporalToken | null | undefined;
}

/** Compares both sides. While Temporal does not respond, the identity of the database in its last token must match. */
export function compareSides({ tokens, database, temporal }: Sides): TokenComparison {
  const [newest] = tokens;
  if (newest === undefined) return temporal ? 'database-behind' : 'agree';
  const comparison = compareTokens(tokens, temporal);
  if (isMismatch(comparison)) return comparison;
  if (!isSameDatabase(newest.database, database)) return 'database-foreign';
  // Postgres keeps the tokens of a day. Only Temporal knows which database wrote an older token.
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

/** A mismatch that keeps a process from starting. The message is the one line that an operator reads. */
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
  diverged:
    'This database and Temporal have gone on apart from each other: one of them is a restored backup, or a clone',
};

/**
 * Returns the line that describes a mismatch, with both ways to continue.
 * @param used the value of INSTALLATION that is set and has resolved an earlier mismatch
 */
export function describeMismatch(mismatch: Mismatch, sides: Sides, used?: InstallationChoice): string {
  const both = `Postgres ${describeToken(sides.tokens[0])}, Temporal ${describeToken(sides.temporal)}`;
  const ways =
    'Start with INSTALLATION=take-over if it is the original, restored or moved, or with INSTALLATION=new if it is a clone';
  const again =
    used === undefined
      ? ''
      : ` INSTALLATION=${used} has resolved an earlier mismatch, and resolves only one: start once without it first.`;
  return `${REASONS[mismatch]} (${both}). Nothing is sent. ${ways}.${again}`;
}

function describeToken(token: InstallationToken | null | undefined): string {
  if (token === undefined) return 'unknown';
  return token ? `token ${token.no} of ${token.rolledAt}` : 'no token';
}

/**
 * The time between the last tokens of both sides. Actions of the service in this time are recorded on one side only.
 */
export interface LostWindow {
  from: Date;
  to: Date;
}

/** Maximum time between a token and the actions after it, because the token is renewed once a minute. */
const WINDOW_MARGIN_MS = 2 * 60_000;

/**
 * Returns the time whose changes are missing in a restored database: from its last token to Temporal's last token, or
 * to now if Temporal's is not later.
 */
export function lostWindow({ tokens, temporal }: Sides, now: Date): LostWindow {
  const from = tokens[0] ? new Date(tokens[0].rolledAt) : new Date(temporal ? temporal.rolledAt : now);
  const until = temporal ? Date.parse(temporal.rolledAt) : now.getTime();
  const to = until > from.getTime() ? until : now.getTime();
  return { from, to: new Date(Math.min(now.getTime(), to + WINDOW_MARGIN_MS)) };
}
