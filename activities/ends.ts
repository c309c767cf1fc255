import { Context } from '@temporalio/activity';
import type { ActivityDeps } from './deps.ts';

export type EndActivities = ReturnType<typeof createWorkflowEndActivities>;

/** Activities for a workflow of Temporal whose database record has ended. The workflow has to end in the same way. */
export function createWorkflowEndActivities({ lifecycle }: Pick<ActivityDeps, 'lifecycle'>) {
  return {
    /**
     * Requests that Temporal cancels the run of the workflow that called this activity. Safe to run twice.
     * @param p workflows of earlier versions do not pass it
     */
    async requestCancellation(p: { reason?: string } = {}): Promise<void> {
      const run = Context.current().info.workflowExecution;
      if (run) await lifecycle.cancel({ ...run, ...p });
    },
  };
}
