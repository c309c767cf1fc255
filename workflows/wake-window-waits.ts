import { continueAsNew } from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/maintenance.ts';
import { activitiesOn } from './activities-on.ts';
import { shouldStartNewRunWhilePaging } from './run-length.ts';

const { wakeWindowPage } = activitiesOn<MaintenanceActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '2 minutes',
  // Safe to repeat, because an execution that is woken twice only checks its sending window twice.
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * Wakes, page by page, the executions of a project that wait for a sending window which now opens earlier. The service
 * starts this workflow when a user has changed the project's window or time zone. Returns the number of executions that
 * this run woke.
 */
export async function wakeWindowWaits(input: { projectId: string; after?: string }): Promise<number> {
  const { projectId } = input;
  let woken = 0;
  let after: string | null = input.after ?? null;
  do {
    const page: { woken: number; after: string | null } = await wakeWindowPage({ projectId, after });
    woken += page.woken;
    after = page.after;
    if (after !== null && shouldStartNewRunWhilePaging())
      await continueAsNew<typeof wakeWindowWaits>({ projectId, after });
  } while (after !== null);
  return woken;
}
