import { ActivityCancellationType } from '@temporalio/workflow';
import type { CampaignChunkActivities, CampaignControlActivities } from '../activities/campaigns/campaigns.ts';
import { activitiesOn } from './activities-on.ts';

/**
 * Short database statements. They have a queue of their own, so a cancel is processed even when chunks take all slots
 * for bulk work.
 */
export const control = activitiesOn<CampaignControlActivities>('automation', {
  allowEagerDispatch: false,
  startToCloseTimeout: '2 minutes',
  // Retried without limit, because an outage of Postgres ends. Safe to repeat, because each is one conditional change.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

const CHUNKS = {
  allowEagerDispatch: false,
  // A chunk's turn starts no email after a minute. The remaining time covers a provider that takes ten minutes to reply
  // to a message.
  startToCloseTimeout: '20 minutes',
  // The time until a killed process is noticed.
  heartbeatTimeout: '10 seconds',
  // Safe to repeat: each attempt claims its rows with a new number, and late results with an old number are ignored.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  // A cancel waits until the emails on the wire are recorded.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;
export const bulk = activitiesOn<CampaignChunkActivities>('bulk', CHUNKS);
/** Chunks that wait for a send rate use a queue of their own, where they block no other work. */
export const paced = activitiesOn<CampaignChunkActivities>('paced', CHUNKS);
