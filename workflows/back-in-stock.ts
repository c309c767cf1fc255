import { continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { StorefrontActivities } from '../activities/storefront.ts';
import { counted } from '../rules/counted.ts';
import type { Restock } from '../rules/storefront/storefront.ts';
import { activitiesOn } from './activities-on.ts';

const { tellWaitingContacts } = activitiesOn<StorefrontActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '5 minutes',
  // A page takes well under a second; a worker that is silent for this long is gone.
  heartbeatTimeout: '15 seconds',
  // Retries without an end, because people wait for this even during a long outage of Postgres. Safe, because each page
  // commits together with the end of its waits.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Notifies every contact that waited for a variant that it is back. Started once for each restock. Returns the number
 * of contacts that this run notified.
 */
export async function backInStock(restock: Restock): Promise<number> {
  let told = 0;
  for (let done = false; !done; ) {
    const progress = await tellWaitingContacts(restock);
    told += progress.told;
    done = progress.done;
    setCurrentDetails(`${counted(told, 'contact')} notified`);
    if (!done && workflowInfo().continueAsNewSuggested) await continueAsNew<typeof backInStock>(restock);
  }
  return told;
}
