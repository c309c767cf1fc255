import { describe, expect, it } from 'vitest';
import { createUnfinishedResult } from './chunk-result.ts';

/** A turn that reached all rows of its chunk. Some rows are still unsent. */
const END = {
  sent: 0,
  resultCount: 0,
  deferred: 0,
  deferredBefore: false,
  from: undefined,
  isStopped: false,
  isBlocked: false,
  isProviderDown: false,
  isTooSlow: false,
  retryAfterMs: undefined,
  hasLostRows: false,
};

describe('a turn after which some rows of its chunk are unsent', () => {
  it('is deferred when no recipient has a result', () => {
    expect(createUnfinishedResult(END)).toEqual({ outcome: 'deferred', sent: 0 });
  });

  it('is followed by another turn at once after any reply, even a permanent refusal', () => {
    expect(createUnfinishedResult({ ...END, resultCount: 3 })).toEqual({ outcome: 'more', sent: 0 });
    expect(createUnfinishedResult({ ...END, resultCount: 3, from: 'row' })).toEqual({
      outcome: 'more',
      sent: 0,
      from: 'row',
      putOff: false,
    });
  });

  it('is deferred when the provider deferred emails in this turn or in an earlier turn', () => {
    expect(createUnfinishedResult({ ...END, resultCount: 3, deferred: 1 }).outcome).toBe('deferred');
    expect(createUnfinishedResult({ ...END, resultCount: 3, sent: 3, deferredBefore: true }).outcome).toBe('deferred');
  });
});
