import type { MaintenanceActivities } from '../activities/maintenance.ts';
import { activitiesOn } from './activities-on.ts';

// Rounds of releases before periodic work had a workflow for each kind. They end a round that was running during the
// upgrade; the rounds of workflows/periodic-work.ts do the work.

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
