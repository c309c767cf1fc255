import { Context } from '@temporalio/activity';
import type { ActivityDeps } from './deps.ts';

export type EndActivities = ReturnType<typeof workflowEndActivities>;

/** Activities that help a workflow end in the same way as its record. */
export function workflowEndActivities({ lifecycle }: Pick<ActivityDeps, 'lifecycle'>) {
  return {
    /** Asks Temporal to cancel the run that this activity belongs to. Safe to run twice. */
    async requestCancellation(): Promise<void> {
      const run = Context.current().info.workflowExecution;
      if (run) await lifecycle.cancel(run);
    },
  };
}
