import { ActivityCancellationType } from '@temporalio/workflow';
import type { CampaignChunkActivities, CampaignControlActivities } from '../activities/campaigns/campaigns.ts';
import { activitiesOn } from './activities-on.ts';

/**
 * The short activities of a campaign. These activities run on the queue `automation`, so that a campaign reacts to a
 * cancellation or a pause even when chunks occupy all slots of the queue `bulk`.
 */
export const controlActivities = activitiesOn<CampaignControlActivities>('automation', {
  allowEagerDispatch: false,
  startToCloseTimeout: '2 minutes',
  // Temporal retries these activities without limit, because every outage of Postgres ends. Each activity is safe to
  // repeat, because it makes its change only once.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

const CHUNKS = {
  allowEagerDispatch: false,
  // A chunk's turn starts no email after a minute. The remaining time covers a provider that takes ten minutes to reply
  // to a message.
  startToCloseTimeout: '20 minutes',
  // If a worker process is killed, Temporal notices it after this time.
  heartbeatTimeout: '10 seconds',
  // Safe to repeat. Each attempt to send a chunk claims its rows with a new number, and a late result with an older
  // number is ignored. No page of the audience is added twice.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  // When the activity is cancelled, the workflow waits until the activity has recorded the emails that are on the wire.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;
/** The activities that read the audience, and that send chunks of a project without a send rate. */
export const bulkActivities = activitiesOn<CampaignChunkActivities>('bulk', CHUNKS);
/**
 * The activities that send chunks of a project with a send rate. Such a chunk waits most of the time. The queue `paced`
 * is separate, so that waiting chunks occupy no slots of other work.
 */
export const pacedActivities = activitiesOn<CampaignChunkActivities>('paced', CHUNKS);
