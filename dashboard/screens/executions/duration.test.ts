import { expect, it } from 'vitest';
import { formatDuration } from './duration.ts';

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
