import type { Db } from '../../db/connection.ts';
import { readInstallation } from '../../db/installation/installation.ts';
import {
  becomeNewInstallation,
  clearResolvedChoice,
  listScheduledCampaigns,
  readResolvedChoice,
  recordResolvedChoice,
  takeOverInstallation,
} from '../../db/installation/resolve.ts';
import type { Config } from '../../rules/config.ts';
import type { Installation } from '../../rules/installation.ts';
import {
  compareInstallationTokens,
  describeMismatch,
  findLostWindow,
  type InstallationChoice,
  InstallationError,
  isMismatch,
  type TokenState,
} from '../../rules/installation-tokens.ts';
import { createWorkflowLifecycle, type Lifecycle } from '../../temporal/lifecycle.ts';
import { isOpenStatus } from '../../temporal/run-states.ts';
import { writeNextToken } from './next-token.ts';
import { assertMatchOrRequestRecovery, readTokenState, type TokenStateDeps } from './token-state.ts';

export interface CheckOptions {
  db: Db;
  config: Pick<Config, 'temporal' | 'publicUrl' | 'installationChoice'>;
  /**
   * Whether this process or its child processes send email. False for an API process, which may run without the
   * variable INSTALLATION of the workers. An API process therefore never clears the record of the last INSTALLATION,
   * and never declares a copy of both Postgres and Temporal to be a new installation.
   */
  sends: boolean;
  /** Called with each line that an operator must read. */
  notifyOperator: (line: string) => void;
}

interface Check extends CheckOptions {
  installation: Installation;
  lifecycle: Lifecycle;
  tokenState: TokenState;
  /** The value of INSTALLATION that has resolved an earlier mismatch, or null. */
  resolvedBy: InstallationChoice | null;
}

/**
 * Recognizes a clone or a restored database before the service sends anything. If the tokens in Postgres and Temporal
 * do not match, resolves the mismatch in the way that the variable INSTALLATION selects. Every process calls this
 * function before it starts anything else, because a clone must not change the original's workflows in Temporal.
 * @returns the installation of this process; `verified` is false if Temporal's token could not be read
 * @throws InstallationError with a one-line message that describes the mismatch
 */
export async function checkInstallation(p: CheckOptions): Promise<{ installation: Installation; verified: boolean }> {
  while (true) {
    const installation = await readInstallation(p.db);
    const lifecycle = createWorkflowLifecycle({ ...p.config, installation });
    try {
      const tokenState = await readTokenState({ db: p.db, lifecycle });
      const resolvedBy = tokenState.temporal?.resolvedBy ?? (await readResolvedChoice(p.db));
      if (await compareAndResolve({ ...p, installation, lifecycle, tokenState, resolvedBy })) {
        return { installation, verified: tokenState.temporal !== undefined };
      }
    } finally {
      await lifecycle.close();
    }
  }
}

/**
 * Compares the tokens in Postgres and Temporal. A worker calls this function if Temporal was unreachable when the
 * worker started.
 * @throws InstallationError with a one-line message that describes the mismatch; the next start resolves it
 */
export async function verifyInstallation(deps: TokenStateDeps & { lifecycle: Lifecycle }): Promise<void> {
  const tokenState = await readTokenState(deps);
  if (tokenState.temporal === undefined) throw new Error('Temporal did not say which database it knows');
  await assertMatchOrRequestRecovery(deps, tokenState);
  await writeNextToken(deps, tokenState);
}

/**
 * Compares the tokens. If they do not match, follows the operator's choice (INSTALLATION). Also follows the choice
 * `new` when the tokens match, because both Postgres and Temporal may be copies. In all other cases, writes the next
 * token if Temporal is reachable.
 * @returns false if the choice was followed, so that the tokens must be read again
 */
async function compareAndResolve(check: Check): Promise<boolean> {
  const { db, sends, tokenState, resolvedBy } = check;
  const choice = check.config.installationChoice;
  if (sends && choice === undefined && resolvedBy !== null) await allowNextChoice(check);
  const comparison = compareInstallationTokens(tokenState);
  const isUsed = choice !== undefined && choice === resolvedBy;
  if (isMismatch(comparison)) {
    if (choice === undefined || isUsed)
      throw new InstallationError(describeMismatch(comparison, tokenState, isUsed ? choice : undefined));
    await followChoice(check, choice);
    return false;
  }
  if (sends && choice === 'new' && !isUsed) {
    // If both Postgres and Temporal were copied, the tokens of the two copies match. Only the operator knows that they
    // are copies.
    if (tokenState.tokens.length > 0) {
      await followChoice(check, choice);
      return false;
    }
    await recordResolvedChoice(db, choice);
  }
  await assertMatchOrRequestRecovery(check, tokenState);
  if (tokenState.temporal !== undefined) await writeNextToken(check, tokenState);
  return true;
}

/**
 * Clears the record of the last INSTALLATION, because this process has started without the variable. From then on, the
 * variable can resolve the next mismatch.
 */
async function allowNextChoice({ db, lifecycle, tokenState }: Check): Promise<void> {
  await clearResolvedChoice(db);
  if (tokenState.temporal) await lifecycle.writeToken({ ...tokenState.temporal, resolvedBy: null });
}

async function followChoice(check: Check, choice: InstallationChoice): Promise<void> {
  return choice === 'take-over' ? takeOver(check) : makeNewInstallation(check);
}

async function takeOver(check: Check): Promise<void> {
  const { db, installation, tokenState, notifyOperator } = check;
  if (tokenState.temporal === undefined)
    throw new InstallationError(
      'INSTALLATION=take-over needs Temporal, which cannot be reached: start again when Temporal can be reached.',
    );
  const window = findLostWindow(tokenState, new Date());
  const endedCampaigns = await listEndedCampaigns(check);
  const result = await takeOverInstallation(db, { id: installation.id, ...tokenState }, { window, endedCampaigns });
  if (!result) return;
  const { from, to } = window;
  notifyOperator(
    `INSTALLATION=take-over: this database is the original now. What the service did from ${from.toISOString()} to ${to.toISOString()} is lost from it. ` +
      `${describePausedCampaigns(result.paused)} Recovery runs first, then sending resumes.`,
  );
}

/**
 * Lists the campaigns that are SCHEDULED in the database although their workflow has ended in Temporal. Such a campaign
 * was sent or cancelled after the backup from which the database was restored.
 */
async function listEndedCampaigns({ db, lifecycle }: Check): Promise<string[]> {
  const endedIds: string[] = [];
  for (const { campaignId, sendNo } of await listScheduledCampaigns(db)) {
    const status = await lifecycle.findStatus(lifecycle.names.campaign(campaignId, sendNo));
    if (status !== null && !isOpenStatus(status)) endedIds.push(campaignId);
  }
  return endedIds;
}

async function makeNewInstallation({ db, installation, tokenState, notifyOperator }: Check): Promise<void> {
  const result = await becomeNewInstallation(db, { id: installation.id, ...tokenState });
  if (result) notifyOperator(`INSTALLATION=new: this is an installation of its own now, with the id ${result.id}.`);
}

function describePausedCampaigns(count: number): string {
  if (count === 0) return 'No campaign was being sent in that time.';
  if (count === 1) return 'One campaign that may have been sent in that time is PAUSED.';
  return `${count} campaigns that may have been sent in that time are PAUSED.`;
}
