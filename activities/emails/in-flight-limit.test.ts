import { describe, expect, it } from 'vitest';
import { InFlightLimit } from './in-flight-limit.ts';

/**
 * Creates work under a limit: `add` adds an item, `end` ends an item, and `started` has the names of the items in the
 * order in which they started.
 */
function createLimitedWork(max: number, ofProject: number) {
  const limit = new InFlightLimit({ max, ofProject });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const add = (project: string, name: string) =>
    limit.run(project, () => {
      started.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { limit, started, add, end };
}

describe('the limit of emails in flight', () => {
  it('is never exceeded, and the next email starts when an email ends', async () => {
    const { limit, started, add, end } = createLimitedWork(2, 2);
    for (const name of ['a1', 'a2', 'a3']) void add('a', name);
    expect(started).toEqual(['a1', 'a2']);
    await end('a1');
    expect(started).toEqual(['a1', 'a2', 'a3']);
    expect(limit.current).toBe(2);
  });

  it('leaves slots free for other projects, however many emails one project has', async () => {
    const { started, add } = createLimitedWork(3, 2);
    for (let n = 1; n <= 50; n += 1) void add('a', `a${n}`);
    void add('b', 'b1');
    expect(started).toEqual(['a1', 'a2', 'b1']);
  });

  it('lets projects that wait take turns', async () => {
    const { started, add, end } = createLimitedWork(2, 2);
    for (let n = 1; n <= 5; n += 1) void add('a', `a${n}`);
    void add('b', 'b1');
    void add('c', 'c1');
    await end('a1');
    await end('a2');
    await end('a3');
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'c1']);
  });

  it('lets no caller wait while a slot is free, and passes each released slot to a waiting caller', async () => {
    const limit = new InFlightLimit({ max: 2 });
    expect(limit.take('a')).toBeUndefined();
    expect(limit.take('a')).toBeUndefined();
    const next = limit.take('a');
    const last = limit.take('b');
    limit.release('a', 2);
    await Promise.all([next, last]);
    expect(limit.current).toBe(2);
  });

  it('frees the slot if the work fails', async () => {
    const { limit } = createLimitedWork(1, 1);
    await expect(limit.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(limit.current).toBe(0);
  });
});
