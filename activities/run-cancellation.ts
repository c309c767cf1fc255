import { Context } from '@temporalio/activity';
import type { ActivityDeps } from './deps.ts';

export type CancellationActivities = ReturnType<typeof createCancellationActivities>;

/**
 * Creates the activity that a workflow of Temporal calls when its record in Postgres is CANCELLED. After the call, the
 * workflow can end as Canceled too.
 */
export function createCancellationActivities({ lifecycle }: Pick<ActivityDeps, 'lifecycle'>) {
  return {
    /**
     * Requests that Temporal cancels the run of the workflow that called this activity. Safe to run twice.
     * @param p absent in calls from workflows of earlier releases
     */
    async requestCancellation(p: { reason?: string } = {}): Promise<void> {
      const run = Context.current().info.workflowExecution;
      if (run) await lifecycle.cancel({ ...run, ...p });
    },
  };
}
