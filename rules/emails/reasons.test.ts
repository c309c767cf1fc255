import { describe, expect, it } from 'vitest';
import { bouncedAs, REASONS, SUPPRESSION_REASONS, suppressedBy, suppresses } from './reasons.ts';

describe('the vocabulary of reasons', () => {
  it('has no reason twice, and contains the composed reasons', () => {
    expect(new Set(REASONS).size).toBe(REASONS.length);
    expect(REASONS).toContain(suppressedBy('complaint'));
    expect(REASONS).toContain(bouncedAs('policy'));
  });
});

describe('the suppression list', () => {
  it('stops all email for a hard bounce and a manual entry, and marketing for every reason', () => {
    expect(SUPPRESSION_REASONS.filter((why) => suppresses(why, 'TRANSACTIONAL'))).toEqual(['hard_bounce', 'manual']);
    expect(SUPPRESSION_REASONS.filter((why) => suppresses(why, 'MARKETING'))).toEqual([...SUPPRESSION_REASONS]);
  });
});
