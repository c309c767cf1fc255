import {
  ApplicationFailure,
  isCancellation,
  proxySinks,
  type Sinks,
  type WorkflowInboundCallsInterceptor,
  workflowInfo,
} from '@temporalio/workflow';
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
 * Makes the reason of an end searchable, and tells the worker of the end. A failure's type is its reason; of an
 * execution that was not failed, the result is.
 */
export const tellEnd = (): WorkflowInboundCallsInterceptor => ({
  async execute(input, next) {
    const tell = (end: Pick<WorkflowEnd, 'outcome' | 'reason'>): void => {
      const { workflowType, startTime } = workflowInfo();
      ends.ended({ ...end, type: workflowType, ms: Date.now() - startTime.getTime(), ids: idsOf(input.args[0]) });
    };
    try {
      const result = await next(input);
      const reason = reasonOf(result);
      if (reason !== null) noteOutcome(reason);
      tell({ outcome: 'completed', reason });
      return result;
    } catch (error) {
      if (isCancellation(error)) tell({ outcome: 'cancelled', reason: null });
      else if (error instanceof ApplicationFailure) {
        const reason = error.type ?? null;
        if (reason !== null) noteOutcome(reason);
        tell({ outcome: 'failed', reason });
      }
      throw error;
    }
  },
});

function reasonOf(result: unknown): string | null {
  if (workflowInfo().workflowType !== 'contactExecution' || typeof result !== 'string') return null;
  return STATUSES.has(result) ? null : result;
}

/** The ids in a workflow's input. */
function idsOf(input: unknown): WorkflowEnd['ids'] {
  const { projectId, executionId, campaignId, jobId } = (input ?? {}) as WorkflowEnd['ids'];
  return { projectId, executionId, campaignId, jobId };
}
