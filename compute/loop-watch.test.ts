import { setImmediate as immediately } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { type Held, watchLoop } from './loop-watch.ts';

afterEach(() => void vi.useRealTimers());

/** A watch on a clock that moves by hand; `hold` computes for so long. */
function watch({ started = true } = {}) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let atMs = 0;
  const held: Held[] = [];
  const loop = watchLoop(
    (one) => held.push(one),
    () => atMs,
  );
  if (started) loop.start();
  return {
    ...{ loop, held },
    hold: (ms: number) => {
      atMs += ms;
    },
    beat: () => vi.advanceTimersByTime(100),
  };
}

it('names the work that held the loop, also after it has waited', async () => {
  const { loop, held, hold, beat } = watch();
  const slow = loop.as('GET /slow', async () => {
    await immediately();
    loop.resumed();
    hold(500);
  });
  await loop.as('GET /quick', async () => {
    await immediately();
    loop.resumed();
    hold(1);
  });
  await slow;
  beat();
  expect(held).toEqual([{ work: 'GET /slow', ms: 401 }]);
  loop.stop();
});

it('is silent while the loop runs', () => {
  const { loop, held, hold, beat } = watch();
  for (let n = 0; n < 5; n += 1) {
    loop.as('GET /quick', () => hold(150));
    beat();
  }
  expect(held).toEqual([]);
  loop.stop();
});

it('is silent about the start of the process, for which nobody waits', () => {
  const { loop, held, hold, beat } = watch({ started: false });
  hold(500);
  beat();
  hold(500);
  loop.start();
  beat();
  expect(held).toEqual([]);
  hold(500);
  beat();
  expect(held).toEqual([{ work: 'other', ms: 400 }]);
  loop.stop();
});
