import { continueAsNew, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import type { RestockActivities } from '../activities/storefront.ts';
import { pluralize } from '../rules/pluralize.ts';
import type { Restock } from '../rules/storefront/storefront.ts';
import { activitiesOn } from './activities-on.ts';

const { tellWaitingContacts } = activitiesOn<RestockActivities>('bulk', {
  allowEagerDispatch: false,
  startToCloseTimeout: '5 minutes',
  // A page of contacts takes well under a second and ends with a heartbeat. If no heartbeat arrives for this long, the
  // worker has died.
  heartbeatTimeout: '15 seconds',
  // Retries without limit, because contacts wait for this notification, and even a long outage of Postgres ends. A
  // retry notifies no contact twice, because the transaction that notifies contacts also ends their wait.
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/**
 * Notifies every contact that waited for a product variant when this variant is back in stock. Each restock starts one
 * workflow of this type. Returns the number of contacts that this run notified.
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
