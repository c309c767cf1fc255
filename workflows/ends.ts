import { ActivityFailure, ApplicationFailure, CancellationScope, patched } from '@temporalio/workflow';
import type { EndActivities } from '../activities/ends.ts';
import { activitiesOn } from './activities-on.ts';

const { requestCancellation } = activitiesOn<EndActivities>('automation', {
  allowEagerDispatch: false,
  startToCloseTimeout: '1 minute',
  // Safe to repeat: a run is asked to cancel once, even if this is called several times.
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * How the record that a workflow works on has ended. `reason` is a code, never a sentence, because Temporal shows it.
 */
export interface RecordEnd {
  status: string;
  reason: string | null;
}

/**
 * Tells whether this run must end with the status of its record. Runs from before the patch always end as Completed.
 * Call this only when the two ends differ, because the call adds an event to the history.
 */
export function endsAsRecord(): boolean {
  return patched('ends-as-record');
}

/**
 * Ends the workflow in the same way as its record in Postgres. FAILED throws a failure with the reason as its type.
 * CANCELLED ends as Canceled, with the reason in the request. Any other status completes with the reason as the result. Not async, because an ordinary
 * end needs no promise and the SDK takes a stack trace for each promise.
 * @param failedStep the message of a failure; its code by default
 */
export function endAs({ status, reason }: RecordEnd, failedStep?: string): string | Promise<never> {
  if (status === 'FAILED' && endsAsRecord()) {
    const code = reason ?? status;
    throw ApplicationFailure.nonRetryable(failedStep ?? code, code);
  }
  if (status === 'CANCELLED' && endsAsRecord()) return becomeCancelled(reason ?? 'cancelled');
  return reason ?? status;
}

/**
 * Turns an activity's permanent failure into a failure of the workflow with the same code. Without this, Temporal shows
 * an ActivityFailure, and the code only as its cause. Returns other errors unchanged.
 */
export function withCode(error: unknown): unknown {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || !cause.nonRetryable || !cause.type) return error;
  return ApplicationFailure.nonRetryable(cause.message, cause.type);
}

/** Runs a workflow. If an activity fails permanently, the workflow fails with the activity's code. */
export async function endingWithCode<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw withCode(error);
  }
}

/**
 * Ends the workflow as Canceled. Temporal requires a request for that, and a workflow cannot
 * request its own cancellation. An activity requests it, with the reason.
 */
export async function becomeCancelled(reason: string): Promise<never> {
  const scope = CancellationScope.current();
  if (!scope.consideredCancelled)
    await requestCancellation.executeWithOptions({ summary: 'end as Canceled' }, [{ reason }]);
  return scope.cancelRequested;
}
