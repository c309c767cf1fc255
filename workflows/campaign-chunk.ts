import type { ChunkResult, ChunkState } from '../rules/campaigns/campaign.ts';
import { DELIVERY_EXPIRES_MS } from '../rules/emails/retry-schedule.ts';
import { bulk, paced } from './campaign-activities.ts';
import type { CampaignRunInput } from './campaign-start.ts';

/**
 * Runs one turn of a chunk. If the provider has deferred the chunk's emails for too long, marks them as failed instead.
 * `rate` is the project's send rate in emails a second; 0 means no limit.
 */
export function sendChunk(start: CampaignRunInput, chunk: ChunkState, rate: number): Promise<ChunkResult> {
  const expired = chunk.deferredSinceMs !== null && Date.now() - chunk.deferredSinceMs >= DELIVERY_EXPIRES_MS;
  const { seq, deferrals, deferredSinceMs, from, putOff } = chunk;
  // With `keeps`, the activity stores a chunk that has to wait in Postgres. An activity of an earlier version ignores
  // this field.
  const input = { ...start, seq, deferrals, deferredSinceMs, from, putOff, paced: rate > 0, keeps: true };
  if (expired) return bulk.expireCampaignChunk.executeWithOptions({ summary: `give up chunk ${seq}` }, [input]);
  const queue = rate > 0 ? paced : bulk;
  return queue.sendCampaignChunk.executeWithOptions({ summary: `chunk ${seq}` }, [input]);
}
