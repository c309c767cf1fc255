import { expect, it } from 'vitest';
import { createLoopGuard, recordPauseEnd, recordPauseStart, recordVisit } from './loop-guard.ts';

const runCycle = (...pauses: { ms?: number; byEvent?: boolean; tookMs?: number }[]) => {
  const guard = createLoopGuard();
  recordVisit(guard, 'step');
  for (const { ms, byEvent = false, tookMs = 0 } of pauses) {
    recordPauseStart(guard, ms);
    recordPauseEnd(guard, { byEvent, tookMs });
  }
  return recordVisit(JSON.parse(JSON.stringify(guard)), 'step');
};

it('the first visit to a step is never too early', () => {
  expect(recordVisit(createLoopGuard(), 'step')).toBe(false);
});

it('requires 60 seconds of waiting per cycle, and exactly 60 are enough', () => {
  expect(runCycle()).toBe(true);
  expect(runCycle({ ms: 59_999 })).toBe(true);
  expect(runCycle({ ms: 60_000 })).toBe(false);
  expect(runCycle({ ms: 30_000 }, { ms: 30_000 })).toBe(false);
});

it('counts a timer with its planned length, even if two machines measure a shorter time', () => {
  expect(runCycle({ ms: 60_000, tookMs: 59_950 })).toBe(false);
});

it('a wait that an event ended counts with the time it took, at most its deadline', () => {
  expect(runCycle({ ms: 86_400_000, byEvent: true, tookMs: 59_999 })).toBe(true);
  expect(runCycle({ byEvent: true, tookMs: 60_000 })).toBe(false);
  expect(runCycle({ ms: 1_000, byEvent: true, tookMs: 61_000 })).toBe(true);
});

it('counts each cycle separately', () => {
  const guard = createLoopGuard();
  recordVisit(guard, 'step');
  recordPauseStart(guard, 3_600_000);
  recordPauseEnd(guard, { byEvent: false, tookMs: 0 });
  expect(recordVisit(guard, 'step')).toBe(false);
  expect(recordVisit(guard, 'step')).toBe(true);
});
