import type { ChunkResult, ChunkState } from '../rules/campaigns/campaign.ts';
import { DELIVERY_EXPIRES_MS } from '../rules/emails/retry-schedule.ts';
import { bulkActivities, pacedActivities } from './campaign-activities.ts';
import type { CampaignRunInput } from './campaign-start.ts';

/**
 * Runs one turn of a chunk. If the provider has deferred emails of the chunk for a day (`DELIVERY_EXPIRES_MS`), runs
 * the activity that marks the deferred emails as failed. `rate` is the project's send rate in emails a second; 0 means
 * no limit.
 */
export function runChunkTurn(start: CampaignRunInput, chunk: ChunkState, rate: number): Promise<ChunkResult> {
  const expired = chunk.deferredSinceMs !== null && Date.now() - chunk.deferredSinceMs >= DELIVERY_EXPIRES_MS;
  const { seq, deferrals, deferredSinceMs, from, putOff } = chunk;
  // If `keeps` is true and the chunk is deferred, held or outside its sending time, the activity stores the wait of the
  // chunk in Postgres. An activity of an earlier release ignores this field.
  const input = { ...start, seq, deferrals, deferredSinceMs, from, putOff, paced: rate > 0, keeps: true };
  if (expired)
    return bulkActivities.expireCampaignChunk.executeWithOptions({ summary: `give up chunk ${seq}` }, [input]);
  const activities = rate > 0 ? pacedActivities : bulkActivities;
  return activities.sendCampaignChunk.executeWithOptions({ summary: `chunk ${seq}` }, [input]);
}
