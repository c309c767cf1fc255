import { continueAsNew } from '@temporalio/workflow';
import type { MaintenanceActivities, Released } from '../activities/maintenance.ts';
import { activitiesOn } from './activities-on.ts';
import { shouldStartNewRunWhilePaging } from './run-length.ts';

const { releasePage } = activitiesOn<MaintenanceActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '2 minutes',
  retry: { initialInterval: '1 second', maximumInterval: '1 minute' },
});

/** An id that sorts before every other id. */
const FROM_START = '00000000-0000-0000-0000-000000000000';

/**
 * Releases the held single emails and automation emails of a project, page by page. Then wakes the project's campaigns,
 * which release their held emails themselves. The service starts this workflow when the hold is released. The workflow
 * ends early when the project is on hold again. Returns the number of emails that this run released.
 * @param input `after` is set if this run continues an earlier run
 */
export async function releaseHeld(input: { projectId: string; after?: string }): Promise<number> {
  const { projectId } = input;
  let released = 0;
  let after: string | null = input.after ?? null;
  do {
    const page: Released = withCursor(await releasePage({ projectId, after }));
    released += page.released;
    after = page.after;
    if (after !== null && shouldStartNewRunWhilePaging()) await continueAsNew<typeof releaseHeld>({ projectId, after });
  } while (after !== null);
  return released;
}

/**
 * Returns the result of the activity with the cursor of the next page. An activity of an earlier release returns only
 * the number of emails, and always starts at the first held email.
 */
function withCursor(page: Released | number): Released {
  return typeof page === 'number' ? { released: page, after: page > 0 ? FROM_START : null } : page;
}
