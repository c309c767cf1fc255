import { describe, expect, it } from 'vitest';
import { readThreadCpuMs, runWithTimeLimit, TimeLimitExceeded, wasStarved } from './time-limit.ts';

describe('work within the time limit', () => {
  it('returns its result, or throws its own error unchanged', () => {
    expect(runWithTimeLimit(() => 42)).toBe(42);
    const own = new TypeError('mine');
    expect(() =>
      runWithTimeLimit(() => {
        throw own;
      }),
    ).toThrow(own);
  });

  it('may contain other work with a limit', () => {
    expect(runWithTimeLimit(() => runWithTimeLimit(() => 1) + runWithTimeLimit(() => 2))).toBe(3);
  });

  it('is stopped by the outer limit, even if work with an inner limit keeps failing', () => {
    let outlived = 0;
    for (let round = 0; round < 50; round++)
      expect(() => runWithTimeLimit(() => failRepeatedlyFor(500), 2)).toThrow(TimeLimitExceeded);
    expect(outlived).toBe(0);

    /** For `ms`, repeatedly runs work that fails at once, within its own time limit. */
    function failRepeatedlyFor(ms: number): void {
      const end = performance.now() + ms;
      while (performance.now() < end) expect(() => runWithTimeLimit(throwError)).toThrow('mine');
      outlived++;
    }
  });

  it.runIf(process.platform === 'linux')(
    'tells whether it was starved of processor time or used its limit',
    async () => {
      const sleepForever = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      const loopForever = () => {
        for (;;);
      };
      expect(wasStarved(catchError(() => runWithTimeLimit(sleepForever, 40)))).toBe(true);
      // On a busy machine, this process lacks the processor too, but not for 5 ms of each attempt.
      await expect.poll(() => wasStarved(catchError(() => runWithTimeLimit(loopForever, 5)))).toBe(false);
    },
  );

  it.runIf(process.platform === 'linux')('is run again if it has not got its processor time, until it succeeds', () => {
    const sleep = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    let attempts = 0;
    // Needs a twentieth of its limit in processor time, and waits twice the limit for it.
    const sleepThenCompute = () => {
      attempts++;
      sleep(200);
      const end = readThreadCpuMs() + 5;
      while (readThreadCpuMs() < end);
      return 'done';
    };
    expect(runWithTimeLimit(sleepThenCompute, 100)).toBe('done');
    expect(attempts).toBeGreaterThan(1);
  });

  it.each([
    [
      'a loop',
      () => {
        for (;;);
      },
    ],
    ['a regular expression', () => /^(x+x+)+y/.test('x'.repeat(100))],
    [
      'growing text',
      () => {
        let text = 'x';
        for (;;) text += text.slice(0, 1_000);
      },
    ],
  ])('%s without end is stopped, and the next work runs', (_, work) => {
    const start = readThreadCpuMs();
    expect(() => runWithTimeLimit(work)).toThrow(TimeLimitExceeded);
    expect(readThreadCpuMs() - start).toBeLessThan(1_500);
    expect(runWithTimeLimit(() => 'next')).toBe('next');
  });
});

function catchError(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

function throwError(): never {
  throw new Error('mine');
}
