import { afterEach, expect, it, vi } from 'vitest';
import { AppError } from '../rules/errors.ts';
import { createGroupCommit, type GroupCommitOptions } from './group-commit.ts';

interface Item {
  name: string;
  tenant?: string;
  queue?: string;
  apart?: string;
  alike?: [thing: string, change: string];
  size?: number;
}

afterEach(() => {
  vi.useRealTimers();
});

/** Creates a group commit whose commits end only when the test ends them, in the order in which they started. */
function setUp(options: Partial<GroupCommitOptions<Item, string>> = {}) {
  const batches: string[][] = [];
  const ends: (() => void)[] = [];
  const group = createGroupCommit<Item, string>({
    lanes: 1,
    max: 3,
    queueOf: (item) => item.queue ?? '',
    apartBy: (item) => (item.apart ? [item.apart] : []),
    alikeBy: (item) => (item.alike ? [item.alike] : []),
    commit: async (items) => {
      batches.push(items.map((item) => item.name));
      await new Promise<void>((resolve) => ends.push(resolve));
      return items.map((item) => `did ${item.name}`);
    },
    ...options,
  });
  const addItem = (name: string, more: Omit<Item, 'name'> = {}) => group.add({ name, ...more });
  /** Ends one commit after the other until all these promises have settled. */
  const endCommitsUntil = async <T>(results: Promise<T>[]) => {
    let done = false;
    const all = Promise.allSettled(results).finally(() => {
      done = true;
    });
    while (!done) {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return all;
  };
  return { addItem, endCommitsUntil, batches };
}

it('commits a single item at once, and then commits together the items that arrived during that commit', async () => {
  const { addItem, endCommitsUntil, batches } = setUp();
  const results = ['a', 'b', 'c', 'd', 'e'].map((name) => addItem(name));
  expect(batches).toEqual([['a']]);
  const settled = await endCommitsUntil(results);
  expect(batches).toEqual([['a'], ['b', 'c', 'd'], ['e']]);
  expect(settled.map((s) => s.status === 'fulfilled' && s.value)).toEqual([
    'did a',
    'did b',
    'did c',
    'did d',
    'did e',
  ]);
});

it('does not mix queues in a transaction, and serves queues one after the other', async () => {
  const { addItem, endCommitsUntil, batches } = setUp({ max: 2 });
  const x = ['x1', 'x2', 'x3', 'x4', 'x5'].map((name) => addItem(name, { queue: 'x' }));
  await endCommitsUntil([...x, addItem('y1', { queue: 'y' })]);
  expect(batches).toEqual([['x1'], ['x2', 'x3'], ['y1'], ['x4', 'x5']]);
});

it('commits items with a common resource one after the other, in order', async () => {
  const { addItem, endCommitsUntil, batches } = setUp();
  const results = [
    addItem('first'),
    addItem('a1', { apart: 'a' }),
    addItem('a2', { apart: 'a' }),
    addItem('b', { apart: 'b' }),
  ];
  await endCommitsUntil([...results, addItem('a3', { apart: 'a' })]);
  expect(batches).toEqual([['first'], ['a1', 'b'], ['a2'], ['a3']]);
});

it('commits equal changes of a resource together and different ones in order', async () => {
  const { addItem, endCommitsUntil, batches } = setUp({ max: 10 });
  const results = [
    addItem('first'),
    addItem('red1', { alike: ['wall', 'red'] }),
    addItem('red2', { alike: ['wall', 'red'] }),
  ];
  const more = [addItem('blue', { alike: ['wall', 'blue'] }), addItem('red3', { alike: ['wall', 'red'] })];
  await endCommitsUntil([...results, ...more, addItem('door', { alike: ['door', 'blue'] })]);
  expect(batches).toEqual([['first'], ['red1', 'red2', 'door'], ['blue'], ['red3']]);
});

it('commits an item after an earlier item with the same resource, even if only the later item fits in the transaction', async () => {
  const { addItem, endCommitsUntil, batches } = setUp({ max: 10, size: { of: (item) => item.size ?? 0, max: 10 } });
  await endCommitsUntil([
    addItem('first'),
    addItem('a', { size: 6 }),
    addItem('b', { size: 6, apart: 'key' }),
    addItem('c', { size: 1, apart: 'key' }),
  ]);
  expect(batches).toEqual([['first'], ['a'], ['b'], ['c']]);
});

it('commits items with a large total size in several transactions', async () => {
  const { addItem, endCommitsUntil, batches } = setUp({ max: 10, size: { of: (item) => item.size ?? 0, max: 10 } });
  const results = [addItem('first'), addItem('a', { size: 6 }), addItem('b', { size: 6 }), addItem('c', { size: 4 })];
  await endCommitsUntil([...results, addItem('huge', { size: 60 })]);
  expect(batches).toEqual([['first'], ['a', 'c'], ['b'], ['huge']]);
});

it('starts a second transaction if enough items wait, or if the first transaction is delayed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { addItem, endCommitsUntil, batches } = setUp({ lanes: 2, max: 10, worthALane: 3 });
  const results = ['a', 'b', 'c'].map((name) => addItem(name));
  expect(batches).toEqual([['a']]);
  results.push(addItem('d'));
  expect(batches).toEqual([['a'], ['b', 'c', 'd']]);
  await endCommitsUntil(results);
  const late = [addItem('stuck'), addItem('lone')];
  expect(batches.slice(2)).toEqual([['stuck']]);
  vi.advanceTimersByTime(1_000);
  expect(batches.slice(2)).toEqual([['stuck'], ['lone']]);
  await endCommitsUntil(late);
});

it('fails only the item that makes the transaction fail', async () => {
  const group = createGroupCommit<string, string>({
    lanes: 1,
    max: 10,
    queueOf: () => '',
    commit: async (items) => {
      await new Promise((resolve) => setImmediate(resolve));
      if (items.includes('bad')) throw new AppError('NOT_FOUND');
      return items;
    },
  });
  const settled = await Promise.allSettled(['a', 'good', 'bad', 'fine'].map((item) => group.add(item)));
  expect(settled.map((s) => s.status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
});

it('does not count delayed transactions as lanes, up to a limit', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { addItem, endCommitsUntil, batches } = setUp({ lanes: 2, max: 1 });
  const results: Promise<string>[] = [];
  for (let n = 0; n < 5; n += 1) {
    results.push(...[1, 2].map((of) => addItem(`${n} of ${of}`, { queue: String(n) })));
    vi.advanceTimersByTime(1_000);
  }
  expect(batches).toHaveLength(8);
  await endCommitsUntil(results);
  expect(batches).toHaveLength(10);
});

it('commits other queues while the commits of one queue are blocked', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { addItem, endCommitsUntil, batches } = setUp({ lanes: 2, max: 1 });
  const results = [1, 2, 3, 4].map((n) => addItem(`stuck ${n}`, { queue: 'stuck' }));
  vi.advanceTimersByTime(1_000);
  results.push(addItem('free', { queue: 'other' }));
  expect(batches).toEqual([['stuck 1'], ['stuck 2'], ['free']]);
  await endCommitsUntil(results);
});

it("runs each tenant's items separately after their transaction failed, including items that arrive in the meantime", async () => {
  const batches: string[][] = [];
  let unlock = () => {};
  const locked = new Promise<void>((resolve) => {
    unlock = resolve;
  });
  const group = createGroupCommit<string, string>({
    lanes: 2,
    max: 10,
    worthALane: 2,
    queueOf: () => '',
    tenantOf: (item) => item.charAt(0),
    commit: async (items) => {
      batches.push(items);
      const tenants = new Set(items.map((item) => item.charAt(0)));
      await new Promise((resolve) => setImmediate(resolve));
      if (tenants.size > 1 && tenants.has('a')) throw Object.assign(new Error('lock timeout'), { code: '55P03' });
      if (tenants.has('a')) await locked;
      return items;
    },
  });
  const stuck = ['a1', 'a2'].map((item) => group.add(item));
  const others = ['b1', 'b2', 'c1'].map((item) => group.add(item));
  stuck.push(group.add('a3'));
  expect(await Promise.all(others)).toEqual(['b1', 'b2', 'c1']);
  stuck.push(group.add('a4'));
  expect(await Promise.all(['b3', 'c2'].map((item) => group.add(item)))).toEqual(['b3', 'c2']);
  unlock();
  expect(await Promise.all(stuck)).toEqual(['a1', 'a2', 'a3', 'a4']);
  expect(
    batches.filter(
      (items) => new Set(items.map((item) => item.charAt(0))).size > 1 && items.some((item) => item.startsWith('a')),
    ),
  ).toHaveLength(1);
});

it('does not retry a batch item by item after a timeout', async () => {
  let tries = 0;
  const group = createGroupCommit<string, string>({
    lanes: 1,
    max: 10,
    queueOf: () => '',
    commit: async () => {
      tries += 1;
      await new Promise((resolve) => setImmediate(resolve));
      throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
    },
  });
  const settled = await Promise.allSettled(['a', 'b', 'c'].map((item) => group.add(item)));
  expect([settled.map((s) => s.status), tries]).toEqual([['rejected', 'rejected', 'rejected'], 2]);
});

it('does not run a batch again that may have been committed', async () => {
  const batches: string[][] = [];
  const group = createGroupCommit<string, string>({
    lanes: 1,
    max: 10,
    queueOf: () => '',
    commit: async (items) => {
      batches.push(items);
      await new Promise((resolve) => setImmediate(resolve));
      // The driver's error for a broken connection, after which the COMMIT may or may not have happened.
      if (items.length > 2) throw new Error('Client has encountered a connection error and is not queryable');
      if (items.length > 1) throw new Error('no idea');
      return items;
    },
  });
  const settled = await Promise.allSettled(['a', 'b', 'c', 'd'].map((item) => group.add(item)));
  expect(settled.map((s) => s.status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
  const more = await Promise.allSettled(['e', 'f', 'g'].map((item) => group.add(item)));
  expect(more.map((s) => s.status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(batches).toHaveLength(4);
});

it('does not call an unreachable database once for each item', async () => {
  let tries = 0;
  const group = createGroupCommit<string, string>({
    lanes: 1,
    max: 10,
    queueOf: () => '',
    commit: async () => {
      tries += 1;
      await new Promise((resolve) => setImmediate(resolve));
      throw Object.assign(new Error('the connection broke'), { code: '57P01' });
    },
  });
  const settled = await Promise.allSettled(['a', 'b', 'c'].map((item) => group.add(item)));
  expect([settled.map((s) => s.status), tries]).toEqual([['rejected', 'rejected', 'rejected'], 2]);
});
