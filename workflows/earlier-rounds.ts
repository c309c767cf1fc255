import type { MaintenanceActivities } from '../activities/maintenance.ts';
import { activitiesOn } from './activities-on.ts';

// Workflow types of earlier releases. These workflows only end a round that was running during the upgrade. The
// workflows of workflows/periodic-work.ts do the work now.

const { keepHouse, recomputeSegments, checkDomains } = activitiesOn<MaintenanceActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '2 minutes',
  retry: { initialInterval: '5 seconds', maximumAttempts: 3 },
});

export async function housekeeping(input: object = {}): Promise<void> {
  await keepHouse(input);
}

export async function segmentRecompute(): Promise<number> {
  return recomputeSegments();
}

export async function domainChecks(): Promise<number> {
  return checkDomains();
}
