import { expect, it } from 'vitest';
import { describeDuration, formatDuration } from './format-duration.ts';

it.each([
  [-5, '0 ms'],
  [40, '40 ms'],
  [1_000, '1 s'],
  [61_500, '1 min 1 s'],
  [3_600_000, '1 hr'],
  [3_605_000, '1 hr'],
  [93_600_000, '1 d 2 hr'],
])('%i ms is %s', (ms, words) => {
  expect(formatDuration(ms)).toBe(words);
});

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
