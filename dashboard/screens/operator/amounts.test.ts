import { expect, it } from 'vitest';
import { formatSeconds, toPercent, toShare } from './amounts.ts';

it.each([
  [0.04, '0 s'],
  [4.23, '4.2 s'],
  [119, '119 s'],
  [720, '12 min'],
  [10_800, '3 h'],
  [259_200, '3 d'],
])('%d seconds are %s', (seconds, shown) => expect(formatSeconds(seconds)).toBe(shown));

it.each([0.1, 0.003, 1, 0.0005])('the share %d is the same after it was shown in percent', (share) => {
  expect(toShare(toPercent(share))).toBe(share);
});

it('an empty field is not a percentage', () => expect([toPercent(null), toShare('')]).toEqual(['', null]));
