import { continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { StorefrontActivities } from '../activities/storefront.ts';
import type { Restock } from '../rules/storefront/storefront.ts';
import { activitiesOn } from './activities-on.ts';

const { tellWaitingContacts } = activitiesOn<StorefrontActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '5 minutes',
  // A page takes well under a second; a worker that is silent for this long is gone.
  heartbeatTimeout: '15 seconds',
  // Without an end: people wait for this, however long Postgres is away. Safe because each page commits with the end of
  // its waits.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Tells everyone who waited for a variant that it is back; started once a restock. Returns how many were told by this
 * run.
 */
export async function backInStock(restock: Restock): Promise<number> {
  let told = 0;
  for (let done = false; !done; ) {
    const progress = await tellWaitingContacts(restock);
    told += progress.told;
    done = progress.done;
    setCurrentDetails(`${told} told`);
    if (!done && workflowInfo().continueAsNewSuggested) await continueAsNew<typeof backInStock>(restock);
  }
  return told;
}
