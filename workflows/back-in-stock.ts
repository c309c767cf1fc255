import { continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { StorefrontActivities } from '../activities/storefront.ts';
import { pluralize } from '../rules/pluralize.ts';
import type { Restock } from '../rules/storefront/storefront.ts';
import { activitiesOn } from './activities-on.ts';

const { tellWaitingContacts } = activitiesOn<StorefrontActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '5 minutes',
  // A page takes well under a second, so a worker without a heartbeat for this long has died.
  heartbeatTimeout: '15 seconds',
  // Retries without limit, because contacts wait for this email even during a long outage of Postgres. A retry notifies
  // no contact twice: each page commits together with the end of its contacts' waits.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Notifies every contact that waited for a product variant that the variant is back in stock. Started once for each
 * restock. Returns the number of contacts that this run notified.
 */
export async function backInStock(restock: Restock): Promise<number> {
  let notified = 0;
  for (let done = false; !done; ) {
    const progress = await tellWaitingContacts(restock);
    notified += progress.told;
    done = progress.done;
    setCurrentDetails(`${pluralize(notified, 'contact')} notified`);
    if (!done && workflowInfo().continueAsNewSuggested) await continueAsNew<typeof backInStock>(restock);
  }
  return notified;
}
