import { ApplicationFailure, isCancellation, proxySinks, type Sinks, workflowInfo } from '@temporalio/workflow';
import type { WorkflowEnd } from '../rules/workflow-end.ts';
import { findCancelReason } from './cancel-reason.ts';
import { showCancelled } from './current-details.ts';
import { setOutcomeAttribute } from './search-attributes.ts';

/**
 * Reports to the worker that a workflow has ended. A sink call is not a command, so it adds no event to the history.
 */
export interface EndSinks extends Sinks {
  ends: { ended(end: WorkflowEnd): void };
}

const { ends } = proxySinks<EndSinks>();

/** A reason that only repeats Temporal's status. The search attribute does not store this reason. */
const CANCELLED = 'cancelled';
/** Results of an execution that only repeat its status. The search attribute does not store them as a reason. */
const STATUSES = new Set(['COMPLETED', 'EXITED', 'CANCELLED']);

/**
 * Reports that a workflow has completed. If the result of an execution is the reason of its end, makes the reason
 * searchable.
 */
export function reportResult(input: unknown, result: unknown): void {
  const reason = getEndReason(result);
  if (reason !== null) setOutcomeAttribute(reason);
  reportEnd(input, { outcome: 'completed', reason });
}

/**
 * Reports that a workflow was cancelled or has failed, and makes the reason searchable. A cancelled workflow has
 * neither a result nor a failure, so its current details also show the reason. An execution already shows the reason in
 * its path.
 */
export function reportFailure(input: unknown, error: unknown): void {
  if (isCancellation(error)) {
    const reason = findCancelReason();
    if (reason !== null && reason !== CANCELLED) setOutcomeAttribute(reason);
    if (!isExecution()) showCancelled(reason);
    reportEnd(input, { outcome: 'cancelled', reason });
  }
  // Other errors do not end the workflow: Temporal retries the workflow task, or the workflow continues as new.
  if (!(error instanceof ApplicationFailure)) return;
  const reason = error.type ?? null;
  if (reason !== null) setOutcomeAttribute(reason);
  reportEnd(input, { outcome: 'failed', reason });
}

function reportEnd(input: unknown, end: Pick<WorkflowEnd, 'outcome' | 'reason'>): void {
  const { workflowType, startTime } = workflowInfo();
  ends.ended({ ...end, type: workflowType, ms: Date.now() - startTime.getTime(), ids: pickIds(input) });
}

function getEndReason(result: unknown): string | null {
  if (!isExecution() || typeof result !== 'string') return null;
  return STATUSES.has(result) ? null : result;
}

function isExecution(): boolean {
  return workflowInfo().workflowType === 'contactExecution';
}

/** Returns the ids in a workflow's input, for the log. */
function pickIds(input: unknown): WorkflowEnd['ids'] {
  const { projectId, executionId, campaignId, jobId } = (input ?? {}) as WorkflowEnd['ids'];
  return { projectId, executionId, campaignId, jobId };
}
