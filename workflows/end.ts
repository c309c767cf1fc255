import { ApplicationFailure, isCancellation, proxySinks, type Sinks, workflowInfo } from '@temporalio/workflow';
import type { WorkflowEnd } from '../rules/workflow-end.ts';
import { noteOutcome } from './search-attributes.ts';

/**
 * Reports to the worker that a workflow has ended. A sink call is not a command, so it adds no event to the history.
 */
export interface EndSinks extends Sinks {
  ends: { ended(end: WorkflowEnd): void };
}

const { ends } = proxySinks<EndSinks>();

/** Results of an execution that say no more than its status, so they are not searchable as a reason. */
const STATUSES = new Set(['COMPLETED', 'EXITED', 'CANCELLED']);

/**
 * Reports that a workflow has completed. The result of an execution is the reason of its end, if there is one, and
 * becomes searchable.
 */
export function reportResult(input: unknown, result: unknown): void {
  const reason = reasonOf(result);
  if (reason !== null) noteOutcome(reason);
  reportEnd(input, { outcome: 'completed', reason });
}

/** Reports that a workflow was cancelled or has failed, and makes the type of the failure searchable. */
export function reportFailure(input: unknown, error: unknown): void {
  if (isCancellation(error)) reportEnd(input, { outcome: 'cancelled', reason: null });
  // Other errors do not end the workflow: Temporal retries the workflow task, or the workflow continues as new.
  if (!(error instanceof ApplicationFailure)) return;
  const reason = error.type ?? null;
  if (reason !== null) noteOutcome(reason);
  reportEnd(input, { outcome: 'failed', reason });
}

function reportEnd(input: unknown, end: Pick<WorkflowEnd, 'outcome' | 'reason'>): void {
  const { workflowType, startTime } = workflowInfo();
  ends.ended({ ...end, type: workflowType, ms: Date.now() - startTime.getTime(), ids: idsOf(input) });
}

function reasonOf(result: unknown): string | null {
  if (workflowInfo().workflowType !== 'contactExecution' || typeof result !== 'string') return null;
  return STATUSES.has(result) ? null : result;
}

/** The ids in a workflow's input. */
function idsOf(input: unknown): WorkflowEnd['ids'] {
  const { projectId, executionId, campaignId, jobId } = (input ?? {}) as WorkflowEnd['ids'];
  return { projectId, executionId, campaignId, jobId };
}
