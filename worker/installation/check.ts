import type { Db } from '../../db/connection.ts';
import { readInstallation } from '../../db/installation/installation.ts';
import {
  becomeNewInstallation,
  clearResolvedBy,
  listScheduledCampaigns,
  noteResolvedBy,
  readResolvedBy,
  takeOver,
} from '../../db/installation/resolve.ts';
import type { Config } from '../../rules/config.ts';
import type { Installation } from '../../rules/installation.ts';
import {
  compareSides,
  describeMismatch,
  findLostWindow,
  type InstallationChoice,
  InstallationError,
  isMismatch,
  type Sides,
} from '../../rules/installation-tokens.ts';
import { createWorkflowLifecycle, type Lifecycle } from '../../temporal/lifecycle.ts';
import { rollToken } from './roll.ts';
import { readSides, refuseOrRecover, type SidesDeps } from './sides.ts';

export interface CheckOptions {
  db: Db;
  config: Pick<Config, 'temporal' | 'publicUrl' | 'installationChoice'>;
  /**
   * Whether the process or its child processes send email. An API process does not, and may run without the workers'
   * INSTALLATION variable. It therefore never applies INSTALLATION, and never turns a copy of both stores into a new
   * installation.
   */
  sends: boolean;
  /** Receives each line that an operator must read. */
  tell: (line: string) => void;
}

interface Check extends CheckOptions {
  installation: Installation;
  lifecycle: Lifecycle;
  sides: Sides;
  /** The value of INSTALLATION that has resolved an earlier mismatch. */
  resolvedBy: InstallationChoice | null;
}

/**
 * Recognizes a clone or a restored database before anything is sent, and resolves the mismatch in the way that
 * INSTALLATION configures. Every process calls this function before it starts anything else, because a clone must not
 * touch the original's workflows in Temporal.
 * @returns the installation of this process; `verified` is false if Temporal's token could not be read
 * @throws InstallationError with a one-line message that describes the mismatch
 */
export async function checkInstallation(p: CheckOptions): Promise<{ installation: Installation; verified: boolean }> {
  while (true) {
    const installation = await readInstallation(p.db);
    const lifecycle = createWorkflowLifecycle({ ...p.config, installation });
    try {
      const sides = await readSides({ db: p.db, lifecycle });
      const resolvedBy = sides.temporal?.resolvedBy ?? (await readResolvedBy(p.db));
      if (await settle({ ...p, installation, lifecycle, sides, resolvedBy })) {
        return { installation, verified: sides.temporal !== undefined };
      }
    } finally {
      await lifecycle.close();
    }
  }
}

/**
 * Compares the tokens of Postgres and Temporal, in a worker that started while Temporal could not be reached.
 * @throws InstallationError with a one-line message that describes the mismatch; the next start resolves it
 */
export async function verifyInstallation(deps: SidesDeps & { lifecycle: Lifecycle }): Promise<void> {
  const sides = await readSides(deps);
  if (sides.temporal === undefined) throw new Error('Temporal did not say which database it knows');
  await refuseOrRecover(deps, sides);
  await rollToken(deps, sides);
}

/** Resolves a mismatch. @returns false if it was resolved, so that both sides must be read again */
async function settle(check: Check): Promise<boolean> {
  const { db, sends, sides, resolvedBy } = check;
  const choice = check.config.installationChoice;
  if (sends && choice === undefined && resolvedBy !== null) await allowNextChoice(check);
  const comparison = compareSides(sides);
  const isUsed = choice !== undefined && choice === resolvedBy;
  if (isMismatch(comparison)) {
    if (choice === undefined || isUsed)
      throw new InstallationError(describeMismatch(comparison, sides, isUsed ? choice : undefined));
    await resolve(check, choice);
    return false;
  }
  if (sends && choice === 'new' && !isUsed) {
    // If both stores were copied, they agree with each other. Only the operator knows that they are a copy.
    if (sides.tokens.length > 0) {
      await resolve(check, choice);
      return false;
    }
    await noteResolvedBy(db, choice);
  }
  await refuseOrRecover(check, sides);
  if (sides.temporal !== undefined) await rollToken(check, sides);
  return true;
}

/** Records that this process starts without INSTALLATION, so that the variable can resolve the next mismatch. */
async function allowNextChoice({ db, lifecycle, sides }: Check): Promise<void> {
  await clearResolvedBy(db);
  if (sides.temporal) await lifecycle.writeToken({ ...sides.temporal, resolvedBy: null });
}

async function resolve(check: Check, choice: InstallationChoice): Promise<void> {
  return choice === 'take-over' ? resolveAsOriginal(check) : resolveAsClone(check);
}

async function resolveAsOriginal(check: Check): Promise<void> {
  const { db, installation, sides, tell } = check;
  if (sides.temporal === undefined)
    throw new InstallationError(
      'INSTALLATION=take-over needs Temporal, which cannot be reached: start again when it can.',
    );
  const window = findLostWindow(sides, new Date());
  const endedCampaigns = await listEndedCampaigns(check);
  const done = await takeOver(db, { id: installation.id, ...sides }, { window, endedCampaigns });
  if (!done) return;
  const { from, to } = window;
  tell(
    `INSTALLATION=take-over: this database is the original now. What the service did from ${from.toISOString()} to ${to.toISOString()} is lost from it. ` +
      `${pausedCampaigns(done.paused)} Recovery runs first, then sending resumes.`,
  );
}

/**
 * Lists campaigns that are SCHEDULED in the database but whose workflow has ended in Temporal: they were sent or
 * cancelled.
 */
async function listEndedCampaigns({ db, lifecycle }: Check): Promise<string[]> {
  const ended: string[] = [];
  for (const { campaignId, sendNo } of await listScheduledCampaigns(db)) {
    const status = await lifecycle.findStatus(lifecycle.names.campaign(campaignId, sendNo));
    if (status !== null && status !== 'RUNNING') ended.push(campaignId);
  }
  return ended;
}

async function resolveAsClone({ db, installation, sides, tell }: Check): Promise<void> {
  const done = await becomeNewInstallation(db, { id: installation.id, ...sides });
  if (done) tell(`INSTALLATION=new: this is an installation of its own now, with the id ${done.id}.`);
}

function pausedCampaigns(count: number): string {
  if (count === 0) return 'No campaign was being sent in that time.';
  if (count === 1) return 'One campaign that may have been sent in that time is PAUSED.';
  return `${count} campaigns that may have been sent in that time are PAUSED.`;
}
