import type { ChunkResult, ChunkState } from './campaign.ts';

/** Returns a chunk that had no turn yet. */
export function newChunk(seq: number): ChunkState {
  return { seq, dueAtMs: 0, deferredSinceMs: null, deferrals: 0 };
}

/**
 * Delays the next attempt at a chunk that was not sent although it was due. The times of the database and of Temporal
 * may differ slightly.
 */
export const CLOCK_RECHECK_MS = 500;

/**
 * Returns the state of a chunk after a turn; undefined if no turn follows. `clock` identifies the settings that the
 * caller last read.
 */
export function chunkAfter(
  chunk: ChunkState,
  result: ChunkResult,
  p: { nowMs: number; clock: string | undefined },
): ChunkState | undefined {
  const { nowMs } = p;
  // `deferrals` counts consecutive deferrals. Results of earlier versions never have `fresh`, so they
  // never reset this count.
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
        dueAtMs: nowMs + result.retryAfterMs,
        deferredSinceMs: before.deferredSinceMs ?? nowMs,
        deferrals: before.deferrals + 1,
      };
    case 'shut':
      return { ...again, dueAtMs: opensAt(result, p), shut: true };
  }
}

/**
 * Returns when a chunk that waits for a local time or a window gets its next turn. Chunks of one zone wait until the
 * same instant, so they need one timer.
 */
function opensAt({ notBeforeMs = 0, clock }: ChunkResult, p: { nowMs: number; clock: string | undefined }): number {
  const soonestMs = p.nowMs + CLOCK_RECHECK_MS;
  // The settings have changed since the turn read them, or since the workflow last read them.
  return clock === p.clock ? Math.max(notBeforeMs, soonestMs) : soonestMs;
}
