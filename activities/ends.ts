import { Context } from '@temporalio/activity';
import type { ActivityDeps } from './deps.ts';

export type EndActivities = ReturnType<typeof endActivities>;

/** Helps a workflow end as its record did. */
export function endActivities({ lifecycle }: Pick<ActivityDeps, 'lifecycle'>) {
  return {
    /** Asks Temporal to cancel the run that this activity belongs to. May run again. */
    async requestCancellation(): Promise<void> {
      const run = Context.current().info.workflowExecution;
      if (run) await lifecycle.cancel(run);
    },
  };
}
