import { useEffect, useState } from 'react';

/** The time over which the rate is measured: long enough to be steady, and short enough to notice a change. */
const WINDOW_MS = 20_000;

interface Sample {
  atMs: number;
  done: number;
}

/**
 * Returns the rate per second, measured over about 20 seconds. Undefined until the observations span half a second.
 * @param p.atMs when `done` was read: a new value is a new observation, even if nothing has moved
 */
export function useRate({ done, atMs, isMoving }: Sample & { isMoving: boolean }): number | undefined {
  const [samples, setSamples] = useState<Sample[]>([]);
  useEffect(() => {
    if (!isMoving) {
      setSamples([]);
      return;
    }
    setSamples((before) => addSample(before, { atMs, done }));
  }, [done, atMs, isMoving]);
  return computeRate(samples);
}

/** Returns the samples of the window, and one earlier sample as the start of the measurement. */
export function addSample(before: readonly Sample[], sample: Sample): Sample[] {
  const from = before.findLastIndex(({ atMs }) => atMs < sample.atMs - WINDOW_MS);
  return [...before.slice(Math.max(0, from)), sample];
}

export function computeRate(samples: readonly Sample[]): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.atMs - first.atMs < 500) return undefined;
  return ((last.done - first.done) * 1000) / (last.atMs - first.atMs);
}
