import { expect, it } from 'vitest';
import { createSharedPromise } from './shared-promise.ts';

it('creates the value once for all callers', async () => {
  let calls = 0;
  const shared = createSharedPromise(async () => {
    calls += 1;
    return calls;
  });
  expect(shared.current).toBeUndefined();
  expect(await Promise.all([shared.get(), shared.get()])).toEqual([1, 1]);
  expect(await shared.get()).toBe(1);
  expect(await shared.current).toBe(1);
});

it('creates the value again after a failure', async () => {
  let calls = 0;
  const shared = createSharedPromise(async () => {
    calls += 1;
    if (calls === 1) throw new Error('too many open files');
    return calls;
  });
  await expect(Promise.all([shared.get(), shared.get()])).rejects.toThrow('too many open files');
  expect(shared.current).toBeUndefined();
  expect(await shared.get()).toBe(2);
});
