import { describe, expect, it } from 'vitest';
import type { ChunkState } from './campaign.ts';
import { computeNextChunkState } from './chunk-state.ts';

const HOUR_MS = 3_600_000;

/** Returns the state of a deferred chunk after a turn at `nowMs` that found the sending window closed until `opensMs`. */
function shutAt(nowMs: number, opensMs: number, chunk: Partial<ChunkState> = {}, fresh?: true) {
  const before: ChunkState = { seq: 1, dueAtMs: 0, deferrals: 3, deferredSinceMs: 2 * HOUR_MS, ...chunk };
  const result = { outcome: 'shut' as const, sent: 0, retryAfterMs: 0, notBeforeMs: opensMs, ...(fresh && { fresh }) };
  return computeNextChunkState(before, result, { nowMs, clock: undefined });
}

describe('the day of retries of a deferred chunk', () => {
  it('excludes the time outside the sending window, and continues when the window opens', () => {
    // Deferred since 02:00. The window is closed from 10:00 to 18:00.
    expect(shutAt(10 * HOUR_MS, 18 * HOUR_MS)).toMatchObject({ deferredSinceMs: 10 * HOUR_MS, deferrals: 3 });
  });

  it('starts at the latest when the window opens, also if the chunk checked the window several times', () => {
    const once = shutAt(10 * HOUR_MS, 18 * HOUR_MS);
    expect(shutAt(11 * HOUR_MS, 18 * HOUR_MS, once)).toMatchObject({ deferredSinceMs: 17 * HOUR_MS });
    expect(shutAt(11 * HOUR_MS, 18 * HOUR_MS, { ...once, deferredSinceMs: 17 * HOUR_MS })).toMatchObject({
      deferredSinceMs: 18 * HOUR_MS,
    });
  });

  it('starts at the latest at the next deferral, if the window opens earlier than planned', () => {
    const shut: ChunkState = { seq: 1, dueAtMs: 0, deferrals: 1, deferredSinceMs: 62 * HOUR_MS };
    const result = { outcome: 'deferred' as const, sent: 0, retryAfterMs: 0 };
    const next = computeNextChunkState(shut, result, { nowMs: 11 * HOUR_MS, clock: undefined });
    expect(next).toMatchObject({ deferredSinceMs: 11 * HOUR_MS });
  });

  it('does not start for a chunk that was never deferred, and starts again after a result of an earlier version', () => {
    expect(shutAt(0, HOUR_MS, { deferredSinceMs: null, deferrals: 0 })).toMatchObject({ deferredSinceMs: null });
    expect(shutAt(0, HOUR_MS, {}, true)).toMatchObject({ deferredSinceMs: null, deferrals: 0 });
  });
});
