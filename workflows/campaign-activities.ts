import { ActivityCancellationType } from '@temporalio/workflow';
import type { CampaignChunkActivities, CampaignControlActivities } from '../activities/campaigns/campaigns.ts';
import { activitiesOn } from './activities-on.ts';

/**
 * The short activities of a campaign. They have a separate queue, so that a campaign reacts to a cancel even when
 * chunks occupy all slots of the queue `bulk`.
 */
export const control = activitiesOn<CampaignControlActivities>('automation', {
  allowEagerDispatch: false,
  startToCloseTimeout: '2 minutes',
  // Retried without limit, because an outage of Postgres ends. Safe to repeat, because each activity makes one change,
  // and only if it was not made before.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

const CHUNKS = {
  allowEagerDispatch: false,
  // A chunk's turn starts no email after a minute. The remaining time covers a provider that takes ten minutes to reply
  // to a message.
  startToCloseTimeout: '20 minutes',
  // The time after which Temporal notices that a process was killed.
  heartbeatTimeout: '10 seconds',
  // Safe to repeat: each attempt claims its rows with a new number, and late results with an old number are ignored.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  // A cancelled activity may first record the emails that are on the wire.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;
export const bulk = activitiesOn<CampaignChunkActivities>('bulk', CHUNKS);
/**
 * Chunks of a project with a send rate mostly wait. They have a separate queue, where they occupy no slots of other
 * work.
 */
export const paced = activitiesOn<CampaignChunkActivities>('paced', CHUNKS);
