import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FairQueue } from './fair-queue.ts';

function takeAll(queue: FairQueue<string>, mayServe = (_projectId: string) => true): string[] {
  const taken: string[] = [];
  for (let next = queue.take(mayServe); next; next = queue.take(mayServe)) taken.push(next.item);
  return taken;
}

it('serves projects round-robin and keeps the order of each project', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) queue.add(item.slice(0, 1), item);
  expect(takeAll(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

it('skips projects that may not be served, which keep their turn', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'b1', 'b2']) queue.add(item.slice(0, 1), item);
  expect(takeAll(queue, (projectId) => projectId !== 'a')).toEqual(['b1', 'b2']);
  expect(queue.has('a')).toBe(true);
  expect(queue.take(() => true)).toEqual({ projectId: 'a', item: 'a1' });
});

it('returns each item exactly once', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.string())), (items) => {
      const queue = new FairQueue<string>();
      for (const [projectId, item] of items) queue.add(projectId, `${projectId}${item}`);
      const half = Array.from({ length: Math.floor(items.length / 2) }, () => queue.take(() => true)?.item);
      expect([...half, ...queue.clear()].sort()).toEqual(
        items.map(([projectId, item]) => `${projectId}${item}`).sort(),
      );
      expect(queue.take(() => true)).toBeUndefined();
    }),
  );
});
