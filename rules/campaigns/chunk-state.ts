import type { ChunkResult, ChunkState } from './campaign.ts';

/** Returns a chunk that had no turn yet. */
export function createChunkState(seq: number): ChunkState {
  return { seq, dueAtMs: 0, deferredSinceMs: null, deferrals: 0 };
}

/**
 * The delay before the next turn of a chunk that the database does not consider due yet, although the workflow does.
 * The times of the database and of Temporal may differ slightly.
 */
export const CLOCK_RECHECK_MS = 500;

/**
 * Returns the state of a chunk after a turn; undefined if no turn follows. `clock` identifies the settings that the
 * workflow last read.
 */
export function computeNextChunkState(
  chunk: ChunkState,
  result: ChunkResult,
  p: { nowMs: number; clock: string | undefined },
): ChunkState | undefined {
  const { nowMs } = p;
  // `deferrals` counts consecutive deferrals. Results of earlier versions never have `fresh`, so they
  // never reset this count.
  const before = result.fresh ? { ...chunk, deferredSinceMs: null, deferrals: 0 } : chunk;
  const { from, putOff } = result;
  const next = { ...before, from, putOff, shut: undefined };
  switch (result.outcome) {
    case 'done':
    case 'ended':
      return undefined;
    case 'more':
    case 'paced':
    case 'held':
    case 'paused':
      return { ...next, dueAtMs: 0 };
    case 'deferred':
      return {
        ...next,
        dueAtMs: nowMs + result.retryAfterMs,
        // The window may have opened earlier than the time by which the start was moved.
        deferredSinceMs: Math.min(before.deferredSinceMs ?? nowMs, nowMs),
        deferrals: before.deferrals + 1,
      };
    case 'shut': {
      const deferredSinceMs = postponeDeferral(before.deferredSinceMs, { nowMs, opensMs: result.notBeforeMs ?? nowMs });
      return { ...next, deferredSinceMs, dueAtMs: findNextTurnMs(result, p), shut: true };
    }
  }
}

/**
 * Moves the start of the day of retries by the time until the sending window opens, because that time does not count
 * (contract §9.10 Retries). The start is at the latest when the window opens.
 */
function postponeDeferral(sinceMs: number | null, p: { nowMs: number; opensMs: number }): number | null {
  if (sinceMs === null) return null;
  return Math.min(sinceMs + Math.max(0, p.opensMs - p.nowMs), Math.max(p.opensMs, sinceMs));
}

/**
 * Returns when a chunk that waits for a local send time or a sending window gets its next turn. Chunks of one time zone
 * wait until the same instant, so the workflow needs only one timer for them.
 */
function findNextTurnMs(
  { notBeforeMs = 0, clock }: ChunkResult,
  p: { nowMs: number; clock: string | undefined },
): number {
  const soonestMs = p.nowMs + CLOCK_RECHECK_MS;
  // If the two values of `clock` differ, a user has changed the settings since the turn or the workflow read them. The
  // chunk then gets its next turn soon.
  return clock === p.clock ? Math.max(notBeforeMs, soonestMs) : soonestMs;
}
