import type { ActivityDeps } from '../deps.ts';
import { recoverCampaigns } from './campaigns.ts';
import { recoverEnded } from './ended.ts';
import { recoverExecutions } from './executions.ts';
import { recoverJobs } from './jobs.ts';
import { recoverMessages } from './messages.ts';
import { recoverBackInStock, recoverReleases, recoverTerminated, recoverWebhooks } from './rows-alone.ts';
import { recoverRunning } from './running.ts';

export type RecoveryDeps = Pick<ActivityDeps, 'db' | 'outbox' | 'lifecycle' | 'log'> & {
  /** Records for the operator which item was not recovered. If undefined, it is only logged. */
  noteFailure?: (what: string, error: unknown) => Promise<void>;
};

/** The input of one turn of a part of recovery. A turn takes a few minutes at most. */
export interface RecoveryTurn {
  /** The position at which the previous turn ended or was killed. Null for the start. */
  cursor: string | null;
  /** How far back to look for messages that Temporal has lost. */
  messagesSince: Date;
  /**
   * Changes that are younger than this many milliseconds are skipped, because one of the two stores may not have them
   * yet.
   */
  settledMs: number;
  /** Records the position of the part between two steps. Returns false when the turn has to end. */
  mayContinue(cursor: string): boolean;
}

/** Runs a turn of a part. @returns the position at which to continue, or null if the part is done */
export type RecoverPart = (deps: RecoveryDeps, turn: RecoveryTurn) => Promise<string | null>;

/** Rows change in Postgres first, and Temporal lists a workflow up to two seconds late. */
export const RECOVERY_GRACE_MS = 2 * 60_000;
/** Two hours more than the day for which a message that a provider defers is attempted again. */
export const MESSAGES_HOURS = 26;

/**
 * The parts of recovery, in the order of a single round. Each part covers all projects with few statements, and a
 * failure in one project does not block others. Together they compare both sides completely: `running` checks each
 * running workflow, `ended` compares records and runs that have both ended, and the others check each row with
 * unfinished work. All are safe to run at any time, twice, and concurrently.
 */
export const RECOVERY = {
  running: recoverRunning,
  ended: recoverEnded,
  executions: recoverExecutions,
  campaigns: recoverCampaigns,
  jobs: recoverJobs,
  webhooks: recoverWebhooks,
  terminated: recoverTerminated,
  messages: recoverMessages,
  releases: recoverReleases,
  backInStock: recoverBackInStock,
} satisfies Record<string, RecoverPart>;

export type RecoveryPart = keyof typeof RECOVERY;

/** Runs one whole round: for an operator, for tests, and for a start after a store was restored. */
export async function recoverEverything(
  deps: RecoveryDeps,
  p: {
    messagesOfHours?: number | undefined;
    settledMs?: number;
    heartbeat?: (part: string, cursor: string) => void;
  } = {},
): Promise<void> {
  const messagesSince = new Date(Date.now() - (p.messagesOfHours ?? MESSAGES_HOURS) * 3_600_000);
  for (const [part, recover] of Object.entries(RECOVERY)) {
    const mayContinue = (cursor: string): boolean => {
      p.heartbeat?.(part, cursor);
      return true;
    };
    await recover(deps, { cursor: null, messagesSince, settledMs: p.settledMs ?? RECOVERY_GRACE_MS, mayContinue });
  }
}
