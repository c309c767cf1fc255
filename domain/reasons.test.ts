import { describe, expect, it } from 'vitest';
import { bouncedAs, isReason, REASONS, SUPPRESSION_REASONS, suppressedBy, suppresses } from './reasons.ts';

describe('the vocabulary of reasons', () => {
  it('is closed', () => {
    expect(new Set(REASONS).size).toBe(REASONS.length);
    expect(isReason(suppressedBy('complaint'))).toBe(true);
    expect(isReason(bouncedAs('policy'))).toBe(true);
    expect(isReason('suppressed:because')).toBe(false);
    expect(isReason('bounced')).toBe(false);
  });
});

describe('the suppression list', () => {
  it('stops all mail after a hard bounce or by hand, and marketing for every reason', () => {
    expect(SUPPRESSION_REASONS.filter((why) => suppresses(why, 'TRANSACTIONAL'))).toEqual(['hard_bounce', 'manual']);
    expect(SUPPRESSION_REASONS.filter((why) => suppresses(why, 'MARKETING'))).toEqual([...SUPPRESSION_REASONS]);
  });
});
