import { Context } from '@temporalio/activity';
import type { ActivityDeps } from './deps.ts';

export type EndActivities = ReturnType<typeof createCancellationActivities>;

/** The activity with which a workflow of Temporal gets the status CANCELLED, if its record in Postgres is CANCELLED. */
export function createCancellationActivities({ lifecycle }: Pick<ActivityDeps, 'lifecycle'>) {
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
