import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { JobActivities, JobEnd, JobProgress, RecordedJobEnd } from '../activities/jobs.ts';
import type { JobInput } from '../rules/contacts/jobs.ts';
import { activitiesOn } from './activities-on.ts';
import { endAs, toWorkflowFailure } from './ends.ts';

/**
 * Retries for about 20 minutes, longer than a restart or failover of the database takes. If a job still fails after
 * that, waiting does not help, and the job ends as FAILED with the reason. Retries are safe, because each chunk commits
 * with the job's cursor.
 */
const RETRY = {
  initialInterval: '1 second',
  backoffCoefficient: 2,
  maximumInterval: '1 minute',
  maximumAttempts: 25,
} as const;

export const jobActivities = activitiesOn<JobActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '5 minutes',
  // A chunk takes well under a second and ends with a heartbeat. If no heartbeat arrives for this long, the worker has
  // died.
  heartbeatTimeout: '15 seconds',
  retry: RETRY,
});

/**
 * The activity that records the end of a job. Temporal retries it without limit, also during a long outage of Postgres,
 * because the end must be recorded.
 */
const { endJob } = activitiesOn<JobActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Runs a job's activity until the job is done, and records the end: COMPLETED, FAILED with the reason, or CANCELLED.
 * When Temporal suggests a new run, calls `continueRun`, which continues the workflow as new.
 * @param runOnce runs the job's activity once
 */
export async function runJob(
  input: JobInput,
  runOnce: (input: JobInput) => Promise<JobProgress>,
  continueRun: (input: JobInput) => Promise<never>,
): Promise<string> {
  try {
    for (let progress = await runOnce(input); !progress.done; progress = await runOnce(input)) {
      setCurrentDetails(`${progress.processed} done`);
      if (workflowInfo().continueAsNewSuggested) break;
      if (progress.waitMs !== undefined) await sleep(progress.waitMs, { summary: 'wait for the next turn' });
    }
  } catch (error) {
    return endEarly(input, error);
  }
  if (workflowInfo().continueAsNewSuggested) await continueRun(input);
  const recordEnd = await writeEnd({ ...input, status: 'COMPLETED' });
  return endAs(recordEnd ?? { status: 'COMPLETED', reason: null });
}

/**
 * Records that a job was cancelled or failed, unless another end is already recorded, and ends the workflow in the same
 * way as the job's record. A failed workflow has the code of the activity's permanent failure. If the activity failed
 * with a temporary failure on every attempt, the workflow has the code from the job's record.
 */
async function endEarly(input: JobInput, error: unknown): Promise<string> {
  const status = isCancellation(error) ? 'CANCELLED' : 'FAILED';
  const recordEnd = await writeEnd({ ...input, status, failedReason: getInnermostMessage(error) });
  // Activities of earlier releases return nothing.
  if (!recordEnd) throw error;
  if (recordEnd.status !== status) return endAs(recordEnd);
  const failure = toWorkflowFailure(error);
  throw failure === error && status === 'FAILED'
    ? ApplicationFailure.nonRetryable(getInnermostMessage(error), recordEnd.reason)
    : failure;
}

async function writeEnd(end: JobEnd): Promise<RecordedJobEnd | undefined> {
  try {
    return await CancellationScope.nonCancellable(() => endJob(end));
  } catch (error) {
    throw toWorkflowFailure(error);
  }
}

/** Returns the message of the innermost error, because the outer errors only say that an activity failed. */
function getInnermostMessage(error: unknown): string {
  let inner: unknown = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return inner instanceof Error ? inner.message.slice(0, 500) : 'unknown';
}
