import type { ChunkResult, LaterChunk } from '../rules/campaigns/campaign.ts';
import { DELIVERY_EXPIRES_MS } from '../rules/emails/retry-schedule.ts';
import { bulk, paced } from './campaign-activities.ts';
import type { Start } from './campaign-start.ts';

/**
 * A chunk that is not let go though its hour has come is tried again after this: the clocks of database and Temporal
 * may differ a little.
 */
const CLOCK_RECHECK_MS = 500;

/**
 * One turn at a chunk; what the provider has put off for too long is given up instead. `rate` is the project's, in
 * mails a second, 0 for no limit.
 */
export function sendChunk(start: Start, chunk: LaterChunk, rate: number): Promise<ChunkResult> {
  const expired = chunk.deferredSinceMs !== null && Date.now() - chunk.deferredSinceMs >= DELIVERY_EXPIRES_MS;
  const { seq, deferrals, from, putOff } = chunk;
  const input = { ...start, seq, deferrals, from, putOff, paced: rate > 0 };
  if (expired) return bulk.expireCampaignChunk.executeWithOptions({ summary: `give up chunk ${seq}` }, [input]);
  const queue = rate > 0 ? paced : bulk;
  return queue.sendCampaignChunk.executeWithOptions({ summary: `chunk ${seq}` }, [input]);
}

/** The chunk as it goes on after a turn; undefined when it does not. `clock` is that of the campaign's progress. */
export function chunkAfter(chunk: LaterChunk, result: ChunkResult, clock: string | undefined): LaterChunk | undefined {
  // `deferrals` counts those in a row, so what an earlier version's result says stays as it was.
  const before = result.fresh ? { ...chunk, deferredSinceMs: null, deferrals: 0 } : chunk;
  const { from, putOff } = result;
  const again = { ...before, from, putOff, shut: undefined };
  switch (result.outcome) {
    case 'done':
    case 'ended':
      return undefined;
    case 'more':
    case 'paced':
    case 'held':
    case 'paused':
      return { ...again, dueAtMs: 0 };
    case 'deferred':
      return {
        ...again,
        dueAtMs: Date.now() + result.retryAfterMs,
        deferredSinceMs: before.deferredSinceMs ?? Date.now(),
        deferrals: before.deferrals + 1,
      };
    case 'shut':
      return { ...again, dueAtMs: hourOf(result, clock), shut: true };
  }
}

/**
 * When a chunk that waits for an hour or a window is tried again. Chunks of a zone wait until the same instant, which
 * is one timer.
 */
function hourOf({ notBeforeMs = 0, clock }: ChunkResult, known: string | undefined): number {
  const soonestMs = Date.now() + CLOCK_RECHECK_MS;
  // The settings have changed since it looked, or before the workflow has heard of it.
  return clock === known ? Math.max(notBeforeMs, soonestMs) : soonestMs;
}
