import { Context } from '@temporalio/activity';
import type { ActivityDeps } from './deps.ts';

export type EndActivities = ReturnType<typeof workflowEndActivities>;

/** Activities that help a workflow end in the same way as its record. */
export function workflowEndActivities({ lifecycle }: Pick<ActivityDeps, 'lifecycle'>) {
  return {
    /**
     * Asks Temporal to cancel the run that this activity belongs to. Safe to run twice.
     * @param p absent if a workflow of an earlier version has asked
     */
    async requestCancellation(p: { reason?: string } = {}): Promise<void> {
      const run = Context.current().info.workflowExecution;
      if (run) await lifecycle.cancel({ ...run, ...p });
    },
  };
}
