import { setImmediate as immediately } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { createCompute } from './compute.ts';
import { type BlockedLoop, watchLoop } from './loop-watch.ts';

/** The timeout of a test with a thread, which first compiles the TypeScript sources. */
const THREAD_STARTS_MS = 60_000;

afterEach(() => void vi.useRealTimers());

/** Returns a watch with a manual clock. `hold` computes for the given time. */
function createTestWatch({ started = true } = {}) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let atMs = 0;
  const held: BlockedLoop[] = [];
  const loop = watchLoop(
    (one) => held.push(one),
    () => atMs,
  );
  if (started) loop.start();
  return {
    loop,
    held,
    hold: (ms: number) => {
      atMs += ms;
    },
    beat: () => vi.advanceTimersByTime(100),
  };
}

it('names the work that blocked the loop, also if the work waited before it blocked', async () => {
  const { loop, held, hold, beat } = createTestWatch();
  const slow = loop.runAs('GET /slow', async () => {
    await immediately();
    loop.noteResumed();
    hold(500);
  });
  await loop.runAs('GET /quick', async () => {
    await immediately();
    loop.noteResumed();
    hold(1);
  });
  await slow;
  beat();
  expect(held).toEqual([{ work: 'GET /slow', ms: 401 }]);
  loop.stop();
});

it('names the work that blocks the loop after a thread has computed for it', {
  timeout: THREAD_STARTS_MS,
}, async () => {
  const { loop, held, hold, beat } = createTestWatch();
  const compute = createCompute({ cpuMsPerSecond: 0, onResume: loop.noteResumed });
  await loop.runAs('GET /computed', async () => {
    const text = compute.runInThread({ projectId: 'a', kind: 'test' }, 'html.text', { html: '<p>text</p>' });
    beat();
    await text;
    hold(500);
  });
  beat();
  expect(held.map(({ work }) => work)).toEqual(['GET /computed']);
  loop.stop();
  await compute.close();
});

it.each(['runLargeRead', 'runLargeRequest'] as const)(
  'names the work that blocks the event loop after it waited in the queue of its project: %s',
  async (method) => {
    const { loop, held, hold, beat } = createTestWatch();
    const compute = createCompute({ cpuMsPerSecond: 0, onResume: loop.noteResumed });
    const work = { projectId: 'a', kind: 'test' };
    const runInTurn = (run: () => Promise<void>) =>
      method === 'runLargeRead' ? compute.runLargeRead(work, run) : compute.runLargeRequest(work, 1, run);
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const before = Array.from({ length: 10 }, () => loop.runAs('GET /before', () => runInTurn(() => gate)));
    const last = loop.runAs('GET /last', () => runInTurn(async () => hold(500)));
    beat();
    open();
    await Promise.all([...before, last]);
    beat();
    expect(held.map((one) => one.work)).toEqual(['GET /last']);
    loop.stop();
    await compute.close();
  },
);

it('reports nothing while the loop is not blocked', () => {
  const { loop, held, hold, beat } = createTestWatch();
  for (let n = 0; n < 5; n += 1) {
    loop.runAs('GET /quick', () => hold(150));
    beat();
  }
  expect(held).toEqual([]);
  loop.stop();
});

it('does not report blocks during the start of the process', () => {
  const { loop, held, hold, beat } = createTestWatch({ started: false });
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
