import type { MaintenanceActivities } from '../activities/maintenance.ts';
import { activitiesOn } from './activities-on.ts';

const { wakeWindowPage } = activitiesOn<MaintenanceActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '2 minutes',
  // Safe, because who is woken twice looks at the window twice.
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/**
 * Wakes executions that wait for a sending window which opens earlier now, page by page; started when a project's
 * window or zone has changed.
 */
export async function wakeWindowWaits(input: { projectId: string }): Promise<number> {
  let woken = 0;
  let after: string | null = null;
  do {
    const page: { woken: number; after: string | null } = await wakeWindowPage({ ...input, after });
    woken += page.woken;
    after = page.after;
  } while (after !== null);
  return woken;
}
