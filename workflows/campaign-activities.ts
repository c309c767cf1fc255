import { ActivityCancellationType } from '@temporalio/workflow';
import type { CampaignChunkActivities, CampaignControlActivities } from '../activities/campaigns/campaigns.ts';
import { activitiesOn } from './activities-on.ts';

/** Short statements; they pass the chunks' queue by, so a cancel is heard while every place for bulk work is taken. */
export const control = activitiesOn<CampaignControlActivities>('automation', {
  allowEagerDispatch: false,
  startToCloseTimeout: '2 minutes',
  // Safe to repeat: each is one conditional change. A database that is away comes back.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
});

const CHUNKS = {
  allowEagerDispatch: false,
  // A chunk's turn ends after a minute at the latest; this covers a provider that takes ten minutes to answer a
  // message.
  startToCloseTimeout: '20 minutes',
  // How long a killed process goes unnoticed.
  heartbeatTimeout: '10 seconds',
  // Safe to repeat: rows are claimed, and completions fenced by the claim's number.
  retry: { initialInterval: '1 second', maximumInterval: '30 seconds' },
  // A cancel waits until what was on the wire is recorded.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;
export const bulk = activitiesOn<CampaignChunkActivities>('bulk', CHUNKS);
/** Chunks that wait for a send rate wait where nobody needs their places. */
export const paced = activitiesOn<CampaignChunkActivities>('paced', CHUNKS);
