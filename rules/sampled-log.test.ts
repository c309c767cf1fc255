import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createSampledLog } from './sampled-log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function startLog() {
  const lines: object[] = [];
  const log = createSampledLog({ info: (fields, message) => void lines.push({ ...fields, message }) }, Date.now);
  const writeLines = (n: number) => {
    for (let i = 0; i < n; i += 1) log('a message has ended', () => ({ i }));
  };
  return { lines, writeLines };
}

it('writes up to 100 lines a second, and adds the number of skipped lines to the next line', () => {
  const { lines, writeLines } = startLog();
  writeLines(150);
  expect(lines).toHaveLength(100);
  vi.advanceTimersByTime(1_000);
  writeLines(2);
  expect(lines.slice(100)).toEqual([
    { message: 'a message has ended', i: 0, skipped: 50 },
    { message: 'a message has ended', i: 1 },
  ]);
});

it('writes the number of skipped lines after two seconds if no more lines follow', () => {
  const { lines, writeLines } = startLog();
  writeLines(103);
  vi.advanceTimersByTime(2_000);
  expect(lines.slice(100)).toEqual([{ message: 'log lines were skipped', skipped: 3 }]);
  vi.advanceTimersByTime(10_000);
  expect(lines).toHaveLength(101);
});

it('does not compute the fields of a skipped line', () => {
  const fields = vi.fn(() => ({}));
  const log = createSampledLog({ info: () => {} }, Date.now);
  for (let i = 0; i < 500; i += 1) log('a message has ended', fields);
  expect(fields).toHaveBeenCalledTimes(100);
});
