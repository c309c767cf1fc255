import { ActivityFailure, ApplicationFailure, CancellationScope, patched } from '@temporalio/workflow';
import type { CancellationActivities } from '../activities/run-cancellation.ts';
import { activitiesOn } from './activities-on.ts';

const { requestCancellation } = activitiesOn<CancellationActivities>('automation', {
  allowEagerDispatch: false,
  startToCloseTimeout: '1 minute',
  // Safe to repeat, because Temporal records only one request to cancel a run.
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * The end of a workflow's record in Postgres, such as the row of an execution or a job. `reason` is a code of the
 * service, or the reason of an EXIT step. Temporal shows the reason, so it contains no data of a contact.
 */
export interface RecordEnd {
  status: string;
  reason: string | null;
}

/**
 * Tells whether this run must end with the status of its record. Runs that started before the patch always end as
 * Completed. Call this function only when the run would otherwise not end as Completed, because the call adds an event
 * to the history.
 */
export function shouldEndAsRecord(): boolean {
  return patched('ends-as-record');
}

/**
 * Ends the workflow in the same way as its record in Postgres. If the record is FAILED, throws a failure with the
 * reason as its type. If it is CANCELLED, the workflow ends as Canceled, with the reason in the request to cancel. For
 * any other status, and in runs from before the patch, returns the result of the workflow: the reason, or the status if
 * the record has no reason. The function is not async, because an ordinary end needs no promise, and the SDK takes a
 * stack trace for each promise.
 * @param failedStep the message of a failure; by default, the message is the failure's code
 */
export function endAs({ status, reason }: RecordEnd, failedStep?: string): string | Promise<never> {
  if (status === 'FAILED' && shouldEndAsRecord()) {
    const code = reason ?? status;
    throw ApplicationFailure.nonRetryable(failedStep ?? code, code);
  }
  if (status === 'CANCELLED' && shouldEndAsRecord()) return endAsCanceled(reason ?? 'cancelled');
  return reason ?? status;
}

/**
 * Converts the permanent failure of an activity into a failure of the workflow with the same code. Otherwise Temporal
 * would show an ActivityFailure, with the code only in its cause. Returns other errors unchanged.
 */
export function toWorkflowFailure(error: unknown): unknown {
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  if (!(cause instanceof ApplicationFailure) || !cause.nonRetryable || !cause.type) return error;
  return ApplicationFailure.nonRetryable(cause.message, cause.type);
}

/**
 * Runs the function of a workflow. If an activity fails permanently, the workflow fails with the code of the activity's
 * failure.
 */
export async function failWithActivityCode<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw toWorkflowFailure(error);
  }
}

/**
 * Ends the workflow as Canceled. Temporal requires a request to cancel for this, and a workflow cannot send that
 * request for itself. An activity sends the request, with the reason.
 */
export async function endAsCanceled(reason: string): Promise<never> {
  const scope = CancellationScope.current();
  if (!scope.consideredCancelled)
    await requestCancellation.executeWithOptions({ summary: 'end as Canceled' }, [{ reason }]);
  return scope.cancelRequested;
}
