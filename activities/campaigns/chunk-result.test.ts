import { describe, expect, it } from 'vitest';
import { unfinishedResult } from './chunk-result.ts';

/** A turn that reached all of its rows. Some of them are still to be sent. */
const END = {
  sent: 0,
  resultCount: 0,
  deferred: 0,
  deferredBefore: false,
  from: undefined,
  stopped: false,
  blocked: false,
  outage: false,
  hopeless: false,
  retryAfterMs: undefined,
  fenced: false,
};

describe('a turn at a chunk that leaves rows open', () => {
  it('is deferred when the provider did not reply at all', () => {
    expect(unfinishedResult(END)).toEqual({ outcome: 'deferred', sent: 0 });
  });

  it('continues at once after any reply, even if it permanently refused the emails', () => {
    expect(unfinishedResult({ ...END, resultCount: 3 })).toEqual({ outcome: 'more', sent: 0 });
    expect(unfinishedResult({ ...END, resultCount: 3, from: 'row' })).toEqual({
      outcome: 'more',
      sent: 0,
      from: 'row',
      putOff: false,
    });
  });

  it('is deferred when the provider deferred emails, in this turn or before', () => {
    expect(unfinishedResult({ ...END, resultCount: 3, deferred: 1 }).outcome).toBe('deferred');
    expect(unfinishedResult({ ...END, resultCount: 3, sent: 3, deferredBefore: true }).outcome).toBe('deferred');
  });
});
