import { describe, expect, it } from 'vitest';
import { Admission } from './admission.ts';

let nowMs = 0;

/**
 * Simulates a server that starts `startsPerSecond` workflows a second. As many starts as the window permits are handed
 * over together, and each waits for earlier ones.
 */
function run(admission: Admission, startsPerSecond: number, rounds: number): number {
  for (let round = 1; round <= rounds; round += 1) {
    admission.full();
    const waitMs = (admission.window / startsPerSecond) * 1_000;
    nowMs += 1_000;
    admission.noteStarted([waitMs, waitMs], nowMs);
  }
  return (admission.window / startsPerSecond) * 1_000;
}

describe('the window of work handed to Temporal and not started', () => {
  it.each([40, 200, 5_000])('settles where a server of %i a second makes each start within 250 ms', (rate) => {
    const waitMs = run(new Admission(), rate, 100);
    expect(waitMs).toBeLessThanOrEqual(250);
    expect(waitMs).toBeGreaterThan(60);
  });

  it('follows a server that becomes ten times slower, and grows again with it', () => {
    const admission = new Admission();
    run(admission, 1_000, 50);
    expect(run(admission, 100, 50)).toBeLessThanOrEqual(250);
    run(admission, 1_000, 50);
    expect(admission.window).toBeGreaterThan(60);
  });

  it('opens again after a stall', () => {
    const admission = new Admission();
    for (let n = 1; n < 50; n += 1) admission.noteStarted([60_000], n * 1_000);
    expect(admission.window).toBeGreaterThanOrEqual(8);
  });

  it('does not grow while the window does not limit the starts', () => {
    const admission = new Admission();
    const before = admission.window;
    for (let n = 1; n < 50; n += 1) admission.noteStarted([5], n * 1_000);
    expect(admission.window).toBe(before);
  });
});
