import { expect, it } from 'vitest';
import { addSample, computeRate } from './use-rate.ts';

it('measures over the last seconds, and has no rate with a single sample', () => {
  expect(computeRate([{ atMs: 0, done: 5 }])).toBeUndefined();
  let samples = [{ atMs: 0, done: 0 }];
  for (let second = 1; second <= 60; second += 1) {
    // Slow at first, then 10 per second.
    const done = second <= 30 ? second : 30 + (second - 30) * 10;
    samples = addSample(samples, { atMs: second * 1_000, done });
  }
  expect(samples.length).toBeLessThan(25);
  expect(computeRate(samples)).toBeCloseTo(10, 0);
});
