import type { DomainActivities } from '../activities/domains.ts';
import { activitiesOn } from './activities-on.ts';

const { checkDomains } = activitiesOn<DomainActivities>('bulk', {
  allowEagerDispatch: false,
  // A round that is still running when the next is due makes that one be skipped.
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '1 minute',
  // The next round comes in 5 minutes anyway.
  retry: { initialInterval: '5 seconds', maximumAttempts: 3 },
});

/** Checks the DNS records of every domain; started by a schedule every 5 minutes. */
export async function domainChecks(): Promise<number> {
  return checkDomains();
}
