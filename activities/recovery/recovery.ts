import type { ActivityDeps } from '../deps.ts';
import { recoverCampaigns } from './campaigns.ts';
import { recoverEnded } from './ended.ts';
import { recoverExecutions } from './executions.ts';
import { recoverJobs } from './jobs.ts';
import { recoverMessages } from './messages.ts';
import { recoverBackInStock, recoverReleases, recoverTerminated, recoverWebhooks } from './rows-alone.ts';
import { recoverRunning } from './running.ts';

export type RecoveryDeps = Pick<ActivityDeps, 'db' | 'outbox' | 'lifecycle' | 'log'> & {
  /** Records for the operator what was not recovered. If absent, the log says so. */
  noteFailure?: (what: string, error: unknown) => Promise<void>;
};

/** One turn at a part of recovery. It takes a few minutes at most. */
export interface RecoveryTurn {
  /** The position at which the turn before ended or was killed; null for the start. */
  cursor: string | null;
  /** How far back to look for messages that Temporal has lost. */
  messagesSince: Date;
  /** Changes younger than this are skipped, because they may still be on their way from one store to the other. */
  settledMs: number;
  /** Records the position of the part between two steps. Returns false when the turn has to end. */
  mayContinue(cursor: string): boolean;
}

/** Runs a turn at a part. @returns the position to continue from, or null when the part is done */
export type Recover = (deps: RecoveryDeps, turn: RecoveryTurn) => Promise<string | null>;

/** Rows change in Postgres first, and Temporal lists a workflow up to two seconds late. */
export const SETTLED_MS = 2 * 60_000;
/** Two hours more than the day for which a message that a provider defers is attempted again. */
export const MESSAGES_HOURS = 26;

/**
 * The parts of recovery, in the order of a single round. Each part is set-based over all projects, and a failure in
 * one project blocks no other. Together they compare both sides completely: `running` checks each running workflow,
 * `ended` compares records and runs that have both ended, and the others check each row with unfinished work. All are
 * safe to run at any time, twice, and concurrently.
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
} satisfies Record<string, Recover>;

export type RecoveryPart = keyof typeof RECOVERY;

/** Runs one whole round: for an operator, for tests, and for a start beside a store that was restored. */
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
    await recover(deps, { cursor: null, messagesSince, settledMs: p.settledMs ?? SETTLED_MS, mayContinue });
  }
}
