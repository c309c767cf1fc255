import { ApplicationFailure, isCancellation, proxySinks, type Sinks, workflowInfo } from '@temporalio/workflow';
import type { WorkflowEnd } from '../rules/workflow-end.ts';
import { noteOutcome } from './search-attributes.ts';

/** Tells a worker that a workflow has ended. The call is no command, so it leaves no event in the history. */
export interface EndSinks extends Sinks {
  ends: { ended(end: WorkflowEnd): void };
}

const { ends } = proxySinks<EndSinks>();

/** Results of executions that add nothing to Temporal's status. */
const STATUSES = new Set(['COMPLETED', 'EXITED', 'CANCELLED']);

/**
 * Reports that a workflow has completed, and makes the reason of an execution that did not fail searchable. The reason
 * is its result.
 */
export function tellResult(input: unknown, result: unknown): void {
  const reason = reasonOf(result);
  if (reason !== null) noteOutcome(reason);
  tell(input, { outcome: 'completed', reason });
}

/** Reports that a workflow was cancelled or has failed, and makes the type of the failure searchable. */
export function tellFailure(input: unknown, error: unknown): void {
  if (isCancellation(error)) tell(input, { outcome: 'cancelled', reason: null });
  // Any other error makes the workflow task retry, or the workflow continue as new.
  if (!(error instanceof ApplicationFailure)) return;
  const reason = error.type ?? null;
  if (reason !== null) noteOutcome(reason);
  tell(input, { outcome: 'failed', reason });
}

function tell(input: unknown, end: Pick<WorkflowEnd, 'outcome' | 'reason'>): void {
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
