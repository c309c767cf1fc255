import { CancellationScope, isCancellation, setCurrentDetails, sleep, workflowInfo } from '@temporalio/workflow';
import type { JobActivities, JobProgress } from '../activities/jobs.ts';
import type { JobInput } from '../rules/contacts/jobs.ts';
import { activitiesOn } from './activities-on.ts';

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
    const status = isCancellation(error) ? 'CANCELLED' : 'FAILED';
    await CancellationScope.nonCancellable(() => endJob({ ...input, status, failedReason: reasonOf(error) }));
    throw error;
  }
  if (workflowInfo().continueAsNewSuggested) await goOn(input);
  await CancellationScope.nonCancellable(() => endJob({ ...input, status: 'COMPLETED' }));
  return 'COMPLETED';
}

/** The words of the innermost error: the outer ones only say that an activity failed. */
function reasonOf(error: unknown): string {
  let inner: unknown = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return inner instanceof Error ? inner.message.slice(0, 500) : 'unknown';
}
