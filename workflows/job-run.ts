import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { JobActivities, JobEnd, JobEnded, JobProgress } from '../activities/jobs.ts';
import type { JobInput } from '../rules/contacts/jobs.ts';
import { activitiesOn } from './activities-on.ts';
import { endAs, withCode } from './ends.ts';

/**
 * About 20 minutes of tries: longer than a database is away for a restart or a failover. A job that still fails then
 * has a fault that waiting does not cure; it is FAILED and says so. Retries are safe because each chunk commits with
 * the job's cursor.
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
  // A chunk takes well under a second; a worker that is silent for this long is gone.
  heartbeatTimeout: '15 seconds',
  retry: RETRY,
});

/** The end of a job has to be written down however long Postgres is away. */
const { endJob } = activitiesOn<JobActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Runs a job's activity until it is done, and writes down how it ended: COMPLETED, FAILED with the reason, or
 * CANCELLED. `goOn` continues the workflow as new when its history has grown.
 */
export async function runJob(
  input: JobInput,
  next: (input: JobInput) => Promise<JobProgress>,
  goOn: (input: JobInput) => Promise<never>,
): Promise<string> {
  try {
    for (let progress = await next(input); !progress.done; progress = await next(input)) {
      setCurrentDetails(`${progress.processed} done`);
      if (workflowInfo().continueAsNewSuggested) break;
      if (progress.waitMs !== undefined) await sleep(progress.waitMs, { summary: 'its turn comes later' });
    }
  } catch (error) {
    return endEarly(input, error);
  }
  if (workflowInfo().continueAsNewSuggested) await goOn(input);
  const ended = await writeEnd({ ...input, status: 'COMPLETED' });
  return endAs(ended ?? { status: 'COMPLETED', reason: null });
}

/**
 * Writes down that a job was cancelled or failed, and ends the workflow in the same way: with the code of the activity
 * that gave up, else with that of the job.
 */
async function endEarly(input: JobInput, error: unknown): Promise<string> {
  const status = isCancellation(error) ? 'CANCELLED' : 'FAILED';
  const ended = await writeEnd({ ...input, status, failedReason: reasonOf(error) });
  // Earlier versions of the activity answer nothing.
  if (!ended) throw error;
  if (ended.status !== status) return endAs(ended);
  const known = withCode(error);
  throw known === error && status === 'FAILED' ? ApplicationFailure.nonRetryable(status, ended.reason) : known;
}

async function writeEnd(end: JobEnd): Promise<JobEnded | undefined> {
  try {
    return await CancellationScope.nonCancellable(() => endJob(end));
  } catch (error) {
    throw withCode(error);
  }
}

/** The words of the innermost error: the outer ones only say that an activity failed. */
function reasonOf(error: unknown): string {
  let inner: unknown = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return inner instanceof Error ? inner.message.slice(0, 500) : 'unknown';
}
