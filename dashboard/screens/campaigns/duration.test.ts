import { expect, it } from 'vitest';
import { describeDuration } from './duration.ts';

it.each([
  [0, '1 second'],
  [59.6, '1 minute'],
  [61, '1 minute 1 second'],
  [3_600, '1 hour'],
  [7_500, '2 hours 5 minutes'],
  [100_000, '1 day 3 hours'],
])('%s seconds are shown as %s', (seconds, shown) => {
  expect(describeDuration(seconds)).toBe(shown);
});
