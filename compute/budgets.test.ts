import { describe, expect, it } from 'vitest';
import { createBudgets, OverBudget } from './budgets.ts';

/** Returns budgets whose clock always shows the same time. */
const createTestBudgets = (cpuMsPerSecond = 100) => createBudgets({ cpuMsPerSecond, now: () => 0 });
const work = { projectId: 'noisy', kind: 'test' };

describe('the budget of a project', () => {
  it('starts work while budget is left, and refuses work that would have to wait too long', async () => {
    const { run } = createTestBudgets();
    const order: string[] = [];
    await run(work, async (charge) => {
      charge(10_000);
      order.push('first');
    });
    const refused = await run({ ...work, maxWaitMs: 5_000 }, async () => order.push('second')).catch((e: unknown) => e);
    expect(refused).toBeInstanceOf(OverBudget);
    // A project has a reserve of 200 ms, so the first job overdraws the budget by 9,800 ms. At 100 ms per second, the
    // budget is positive again after 98 seconds.
    expect(refused).toMatchObject({ status: 429, retryAfterMs: 98_001, headers: { 'Retry-After': '99' } });
    expect(order).toEqual(['first']);
  });

  it('only the project itself spends its budget', async () => {
    const { run } = createTestBudgets();
    await run(work, async (charge) => charge(10_000));
    await expect(run({ ...work, projectId: 'other' }, async () => 'done')).resolves.toBe('done');
  });

  it('also charges work that fails', async () => {
    const { run } = createTestBudgets();
    const failing = run(work, async (charge) => {
      charge(10_000);
      throw new TypeError('mine');
    });
    await expect(failing).rejects.toThrow(TypeError);
    await expect(run({ ...work, maxWaitMs: 10 }, async () => 'done')).rejects.toThrow(OverBudget);
  });

  it('runs two jobs at a time, interactive jobs before bulk jobs', async () => {
    const { run } = createTestBudgets(0);
    const order: string[] = [];
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const held = [1, 2].map(() => run(work, () => gate));
    const bulk = run({ ...work, bulk: true }, async () => order.push('bulk'));
    const single = run(work, async () => order.push('single'));
    await Promise.resolve();
    expect(order).toEqual([]);
    release();
    await Promise.all([...held, bulk, single]);
    expect(order).toEqual(['single', 'bulk']);
  });

  it('gives a free slot of the process to a waiting project before the project that had the slot', async () => {
    const { run } = createBudgets({ cpuMsPerSecond: 0, processJobsMax: 2 });
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const startHeldJob = (projectId: string) =>
      run({ projectId, kind: 'test' }, () => {
        order.push(projectId);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
    const all = [...['noisy', 'noisy', 'noisy', 'noisy'], ...['b', 'c']].map(startHeldJob);
    await Promise.resolve();
    expect(order).toEqual(['noisy', 'noisy']);
    for (let n = 0; n < all.length; n += 1) {
      ends[n]?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(all);
    expect(order.slice(2, 4).sort()).toEqual(['b', 'c']);
  });
});
