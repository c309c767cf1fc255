import type { HousekeepingInput, MaintenanceActivities } from '../activities/maintenance.ts';
import { activitiesOn } from './activities-on.ts';

const { keepHouse } = activitiesOn<MaintenanceActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '30 minutes',
  // The next round comes in an hour anyway.
  retry: { initialInterval: '10 seconds', maximumAttempts: 3 },
});

/** Deletes what has outlived its use, and takes up what has lost its workflow; started by a schedule every hour. */
export async function housekeeping(input: HousekeepingInput = {}): Promise<void> {
  await keepHouse(input);
}
