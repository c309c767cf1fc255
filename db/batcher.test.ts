import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createBatcher } from './batcher.ts';

it('flushes a single item at once, and later flushes together the items that arrived during that flush', async () => {
  const flushed: string[][] = [];
  const batcher = createBatcher<string>(async (items) => {
    flushed.push(items);
    await sleep(5);
  });
  await Promise.all([batcher.add(['a']), batcher.add(['b']), batcher.add(['c', 'd'])]);
  expect(flushed).toEqual([['a'], ['b', 'c', 'd']]);
});

it('flushes each item once, whenever it is added', async () => {
  for (let ticks = 0; ticks < 12; ticks += 1) {
    const flushed: string[][] = [];
    const batcher = createBatcher<string>(async (items) => void flushed.push(items));
    const lateAdd = (async () => {
      for (let tick = 0; tick < ticks; tick += 1) await undefined;
      await batcher.add(['c']);
    })();
    await Promise.all([batcher.add(['a']), batcher.add(['b']), lateAdd]);
    expect(flushed.flat().sort()).toEqual(['a', 'b', 'c']);
    expect(flushed).not.toContainEqual([]);
  }
});

it('fails the items of a failed flush, and continues', async () => {
  const batcher = createBatcher<string>(async (items) => {
    if (items.includes('bad')) throw new Error('no');
  });
  const results = await Promise.allSettled([batcher.add(['bad']), batcher.add(['good'])]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
});

it('keeps an interval between flushes, in which more items can arrive', async () => {
  const flushed: string[][] = [];
  const batcher = createBatcher<string>(async (items) => void flushed.push(items), 50);
  await batcher.add(['a']);
  const second = batcher.add(['b']);
  await sleep(10);
  expect(flushed).toEqual([['a']]);
  await Promise.all([second, batcher.add(['c'])]);
  expect(flushed).toEqual([['a'], ['b', 'c']]);
});
