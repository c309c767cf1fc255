import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '../activities/maintenance.ts';

const { releasePage } = proxyActivities<MaintenanceActivities>({
  taskQueue: 'bulk',
  allowEagerDispatch: false,
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** Lets a project's held mail go, page by page; started when its hold is released. */
export async function releaseHeld(input: { projectId: string }): Promise<number> {
  let released = 0;
  for (let more = true; more; ) {
    const page = await releasePage(input);
    released += page;
    more = page > 0;
  }
  return released;
}
