import { setImmediate as immediately } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { createCompute } from './compute.ts';
import { type BlockedLoop, watchLoop } from './loop-watch.ts';

/** The timeout of a test with a thread, which first compiles the TypeScript sources. */
const THREAD_TEST_MS = 60_000;

afterEach(() => void vi.useRealTimers());

/** Returns a watch with a manual clock. `blockFor` blocks the loop for the given milliseconds. */
function createTestWatch({ started = true } = {}) {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  let atMs = 0;
  const blocks: BlockedLoop[] = [];
  const loop = watchLoop(
    (block) => blocks.push(block),
    () => atMs,
  );
  if (started) loop.start();
  return {
    loop,
    blocks,
    blockFor: (ms: number) => {
      atMs += ms;
    },
    beat: () => vi.advanceTimersByTime(100),
  };
}

it('names the work that blocked the loop, also if the work waited before it blocked', async () => {
  const { loop, blocks, blockFor, beat } = createTestWatch();
  const slow = loop.runAs('GET /slow', async () => {
    await immediately();
    loop.noteResumed();
    blockFor(500);
  });
  await loop.runAs('GET /quick', async () => {
    await immediately();
    loop.noteResumed();
    blockFor(1);
  });
  await slow;
  beat();
  expect(blocks).toEqual([{ work: 'GET /slow', ms: 401 }]);
  loop.stop();
});

it('names the work that blocks the loop after a thread has computed for it', {
  timeout: THREAD_TEST_MS,
}, async () => {
  const { loop, blocks, blockFor, beat } = createTestWatch();
  const compute = createCompute({ cpuMsPerSecond: 0, onResume: loop.noteResumed });
  await loop.runAs('GET /computed', async () => {
    const text = compute.runInThread({ projectId: 'a', kind: 'test' }, 'html.text', { html: '<p>text</p>' });
    beat();
    await text;
    blockFor(500);
  });
  beat();
  expect(blocks.map(({ work }) => work)).toEqual(['GET /computed']);
  loop.stop();
  await compute.close();
});

it.each(['runLargeRead', 'runLargeRequest'] as const)(
  'names the work that blocks the event loop after it waited in the queue of its project: %s',
  async (method) => {
    const { loop, blocks, blockFor, beat } = createTestWatch();
    const compute = createCompute({ cpuMsPerSecond: 0, onResume: loop.noteResumed });
    const work = { projectId: 'a', kind: 'test' };
    const runInTurn = (run: () => Promise<void>) =>
      method === 'runLargeRead' ? compute.runLargeRead(work, run) : compute.runLargeRequest(work, 1, run);
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const before = Array.from({ length: 10 }, () => loop.runAs('GET /before', () => runInTurn(() => gate)));
    const last = loop.runAs('GET /last', () => runInTurn(async () => blockFor(500)));
    beat();
    open();
    await Promise.all([...before, last]);
    beat();
    expect(blocks.map(({ work }) => work)).toEqual(['GET /last']);
    loop.stop();
    await compute.close();
  },
);

it('reports nothing while the loop is not blocked', () => {
  const { loop, blocks, blockFor, beat } = createTestWatch();
  for (let n = 0; n < 5; n += 1) {
    loop.runAs('GET /quick', () => blockFor(150));
    beat();
  }
  expect(blocks).toEqual([]);
  loop.stop();
});

it('does not report blocks during the start of the process', () => {
  const { loop, blocks, blockFor, beat } = createTestWatch({ started: false });
  blockFor(500);
  beat();
  blockFor(500);
  loop.start();
  beat();
  expect(blocks).toEqual([]);
  blockFor(500);
  beat();
  expect(blocks).toEqual([{ work: 'other', ms: 400 }]);
  loop.stop();
});
