import type { ActivityDeps } from '../deps.ts';
import { recoverCampaigns } from './campaigns.ts';
import { recoverEndedWorkflows } from './ended.ts';
import { recoverExecutions } from './executions.ts';
import { cancelIdleDeliveries } from './idle-deliveries.ts';
import { recoverJobs } from './jobs.ts';
import { recoverEmails, recoverSms } from './messages.ts';
import { recoverBackInStock, recoverHeldReleases, recoverWebhooks, restartUnfinishedDeliveries } from './other-work.ts';
import { recoverRunningWorkflows } from './running.ts';

export type RecoveryDeps = Pick<ActivityDeps, 'db' | 'outbox' | 'lifecycle' | 'log'> & {
  /** Records for the operator which item was not recovered. If undefined, the failure is only logged. */
  noteFailure?: (what: string, error: unknown) => Promise<void>;
};

/** The input of one turn of a part of recovery. A part runs in one or more turns of at most a few minutes. */
export interface RecoveryTurn {
  /** The position that the previous turn recorded last. Null at the start of the part. */
  cursor: string | null;
  /** Messages that were accepted before this instant are not checked. */
  messagesSince: Date;
  /**
   * Changes that are younger than this many milliseconds are skipped, because Postgres or Temporal may not show them
   * yet.
   */
  settledMs: number;
  /** Records the position that the part has reached. Returns false when the turn has to end. */
  mayContinue(cursor: string): boolean;
}

/**
 * Runs one turn of a part.
 * @returns the position at which to continue, or null if the part is done
 */
export type RecoverPart = (deps: RecoveryDeps, turn: RecoveryTurn) => Promise<string | null>;

/** The default of `settledMs`. Rows change in Postgres first, and Temporal lists a workflow up to two seconds late. */
export const RECOVERY_GRACE_MS = 2 * 60_000;
/**
 * Recovery checks the messages that were accepted in this many past hours: the 24 hours in which a deferred message is
 * attempted, and two hours more. A message that waits longer for its sending window is found only if an operator passes
 * more hours, because a search takes 1 s per million messages.
 */
export const MESSAGES_HOURS = 26;

/**
 * The parts of recovery, in the order in which `recoverEverything` runs them. Each part covers all projects with few
 * statements, and a failure in one project does not block other projects. Together the parts compare Postgres and
 * Temporal completely: `running` and `idleDeliveries` check each running workflow, `ended` compares records and runs
 * that have both ended recently, and the other parts check each row with unfinished work. Every part may run at any
 * time, twice, and at the same time as other parts.
 */
export const RECOVERY = {
  running: recoverRunningWorkflows,
  ended: recoverEndedWorkflows,
  executions: recoverExecutions,
  campaigns: recoverCampaigns,
  jobs: recoverJobs,
  webhooks: recoverWebhooks,
  terminated: restartUnfinishedDeliveries,
  messages: recoverEmails,
  sms: recoverSms,
  idleDeliveries: cancelIdleDeliveries,
  releases: recoverHeldReleases,
  backInStock: recoverBackInStock,
} satisfies Record<string, RecoverPart>;

export type RecoveryPart = keyof typeof RECOVERY;

/**
 * Runs one whole round of recovery. Used by the operator's command, by tests, and by a worker after Postgres or
 * Temporal was restored.
 */
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
