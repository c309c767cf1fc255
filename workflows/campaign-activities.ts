import { ActivityCancellationType } from '@temporalio/workflow';
import type { CampaignChunkActivities, CampaignControlActivities } from '../activities/campaigns/campaigns.ts';
import { activitiesOn } from './activities-on.ts';

/**
 * Short statements. They use another queue than the chunks, so a cancel is processed even when all places for bulk work
 * are taken.
 */
export const control = activitiesOn<CampaignControlActivities>('automation', {
  allowEagerDispatch: false,
  startToCloseTimeout: '2 minutes',
  // Safe to repeat, because each is one conditional change. An outage of Postgres ends.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

const CHUNKS = {
  allowEagerDispatch: false,
  // A chunk's turn ends after a minute at the latest. The rest covers a provider that takes ten minutes to reply to a
  // message.
  startToCloseTimeout: '20 minutes',
  // The time until a killed process is noticed.
  heartbeatTimeout: '10 seconds',
  // Safe to repeat: rows are claimed, and the claim's number fences off late completions.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  // A cancel waits until the emails on the wire are recorded.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;
export const bulk = activitiesOn<CampaignChunkActivities>('bulk', CHUNKS);
/** Chunks that wait for a send rate use a queue of their own, where they block no other work. */
export const paced = activitiesOn<CampaignChunkActivities>('paced', CHUNKS);
