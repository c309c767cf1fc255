import type { Db } from '../../db/connection.ts';
import { requestRecovery } from '../../db/installation/recovery.ts';
import { readDatabaseIdentity, readTokens } from '../../db/installation/tokens.ts';
import {
  compareInstallationTokens,
  describeMismatch,
  InstallationError,
  isMismatch,
  type TemporalToken,
  type TokenComparison,
  type TokenState,
} from '../../rules/installation-tokens.ts';
import type { Lifecycle } from '../../temporal/lifecycle.ts';

/** The number of attempts to read Temporal's token. */
const READ_ATTEMPTS = 3;

export interface TokenStateDeps {
  db: Db;
  lifecycle: Pick<Lifecycle, 'ping' | 'readToken'>;
  /** Called with one line for the operator. */
  notifyOperator: (line: string) => void;
}

/**
 * Reads the tokens in Temporal and Postgres. Reads Temporal first: processes write a new token first to Postgres, so
 * the token that is then read from Postgres must be at least as new. If the tokens differ, reads Temporal again,
 * because another process may have written a token between the two reads.
 */
export async function readTokenState(deps: Pick<TokenStateDeps, 'db' | 'lifecycle'>): Promise<TokenState> {
  const { db, lifecycle } = deps;
  const temporal = await readTemporal(lifecycle);
  const tokenState = { temporal, tokens: await readTokens(db), database: await readDatabaseIdentity(db) };
  if (compareInstallationTokens(tokenState) === 'agree') return tokenState;
  const isStable = (await readTemporal(lifecycle))?.no === temporal?.no;
  return isStable ? tokenState : readTokenState(deps);
}

/**
 * Reads the token in Temporal. Returns null if Temporal has no token, and undefined if Temporal cannot be reached.
 * Makes several attempts, because a slow response is not an outage.
 */
async function readTemporal(lifecycle: TokenStateDeps['lifecycle']): Promise<TemporalToken | null | undefined> {
  const isReached = await lifecycle.ping().then(
    () => true,
    () => false,
  );
  if (!isReached) return undefined;
  for (let attempt = 1; attempt <= READ_ATTEMPTS; attempt += 1) {
    const token = await lifecycle.readToken().catch(() => undefined);
    if (token !== undefined) return token;
  }
  return undefined;
}

/**
 * The text for the operator, by the result of comparing the tokens. Contains only the results that mean that Temporal
 * was restored or has lost its data.
 */
const RESTORED_TEXT: Partial<Record<TokenComparison, string>> = {
  'temporal-behind': 'Temporal is older than this database: Temporal was restored from a backup',
  'temporal-empty': 'Temporal has no record of this installation: the data of Temporal was lost or replaced',
};

/**
 * Asserts that there is no mismatch between the tokens. If Temporal was restored or has lost its data, requests
 * recovery and informs the operator.
 * @throws InstallationError for a mismatch
 */
export async function assertMatchOrRequestRecovery(
  { db, notifyOperator }: Pick<TokenStateDeps, 'db' | 'notifyOperator'>,
  tokenState: TokenState,
): Promise<void> {
  const comparison = compareInstallationTokens(tokenState);
  if (isMismatch(comparison)) throw new InstallationError(describeMismatch(comparison, tokenState));
  const loss = RESTORED_TEXT[comparison];
  if (loss === undefined) return;
  await requestRecovery(db, tokenState.temporal ? new Date(tokenState.temporal.rolledAt) : new Date());
  notifyOperator(`${loss}. Recovery rebuilds the workflows from Postgres.`);
}
