import { ApplicationFailure, isCancellation, proxySinks, type Sinks, workflowInfo } from '@temporalio/workflow';
import type { WorkflowEnd } from '../rules/workflow-end.ts';
import { noteOutcome } from './search-attributes.ts';

/** How a worker hears that a workflow has ended; the call is no command, so histories do not know of it. */
export interface EndSinks extends Sinks {
  ends: { ended(end: WorkflowEnd): void };
}

const { ends } = proxySinks<EndSinks>();

/** Results of executions that say no more than Temporal's status. */
const STATUSES = new Set(['COMPLETED', 'EXITED', 'CANCELLED']);

/**
 * Tells that a workflow has completed, and makes the reason searchable that an execution which did not fail has as its
 * result.
 */
export function tellResult(input: unknown, result: unknown): void {
  const reason = reasonOf(result);
  if (reason !== null) noteOutcome(reason);
  tell(input, { outcome: 'completed', reason });
}

/** Tells that a workflow was cancelled or has failed, and makes the type of the failure searchable. */
export function tellFailure(input: unknown, error: unknown): void {
  if (isCancellation(error)) tell(input, { outcome: 'cancelled', reason: null });
  // Any other error has the workflow task retried, or the workflow continue as new.
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
