import type { MaintenanceActivities } from '../activities/maintenance.ts';
import { activitiesOn } from './activities-on.ts';

const { recomputeSegments } = activitiesOn<MaintenanceActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '2 minutes',
  // The next round comes in 5 minutes anyway.
  retry: { initialInterval: '5 seconds', maximumAttempts: 3 },
});

/** Recomputes every tracked segment; started by a schedule every 5 minutes. */
export async function segmentRecompute(): Promise<number> {
  return recomputeSegments();
}
