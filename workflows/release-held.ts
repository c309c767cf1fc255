import type { MaintenanceActivities, Released } from '../activities/maintenance.ts';
import { activitiesOn } from './activities-on.ts';

const { releasePage } = activitiesOn<MaintenanceActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** Before every id. */
const FROM_START = '00000000-0000-0000-0000-000000000000';

/**
 * Lets a project's held mail go, page by page; started when its hold is released, and over when it is on hold again.
 */
export async function releaseHeld(input: { projectId: string }): Promise<number> {
  let released = 0;
  let after: string | null = null;
  do {
    const page: Released = toReleased(await releasePage({ ...input, after }));
    released += page.released;
    after = page.after;
  } while (after !== null);
  return released;
}

/**
 * Workers of an earlier release, and histories of theirs, have the number of mails alone, each time of the first that
 * are held.
 */
function toReleased(page: Released | number): Released {
  return typeof page === 'number' ? { released: page, after: page > 0 ? FROM_START : null } : page;
}
