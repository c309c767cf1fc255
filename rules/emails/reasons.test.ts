import { describe, expect, it } from 'vitest';
import { isSuppressionFor, REASONS, SUPPRESSION_REASONS, toBouncedReason, toSuppressedReason } from './reasons.ts';

describe('the vocabulary of reasons', () => {
  it('has no reason twice, and contains the composed reasons', () => {
    expect(new Set(REASONS).size).toBe(REASONS.length);
    expect(REASONS).toContain(toSuppressedReason('complaint'));
    expect(REASONS).toContain(toBouncedReason('policy'));
  });
});

describe('the suppression list', () => {
  it('stops all email for a hard bounce and a manual entry, and marketing for every reason', () => {
    expect(SUPPRESSION_REASONS.filter((why) => isSuppressionFor(why, 'TRANSACTIONAL'))).toEqual([
      'hard_bounce',
      'manual',
    ]);
    expect(SUPPRESSION_REASONS.filter((why) => isSuppressionFor(why, 'MARKETING'))).toEqual([...SUPPRESSION_REASONS]);
  });
});
