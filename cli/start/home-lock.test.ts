import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { takeLock } from './home-lock.ts';
import { identifyProcess, type ProcessIdentity } from './processes.ts';

/** Called before each operation on the lock's files, so that a test can let another start run at that moment. */
const hook = vi.hoisted(() => ({ beforeOperation: () => {} }));
vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof import('node:fs')>();
  const hooked = (name: 'renameSync' | 'readdirSync' | 'rmSync') => {
    const operation = fs[name] as (...args: unknown[]) => unknown;
    return (...args: unknown[]) => {
      hook.beforeOperation();
      return operation(...args);
    };
  };
  return { ...fs, renameSync: hooked('renameSync'), readdirSync: hooked('readdirSync'), rmSync: hooked('rmSync') };
});

const DEAD: ProcessIdentity = { pid: 999_999_999, startedAt: '1' };
/** A start has fewer operations than this. */
const OPERATIONS_MAX = 8;

let children: ChildProcess[];
let starts: ProcessIdentity[];
let folder: string;
let path: string;
beforeAll(() => {
  children = [1, 2, 3].map(() => spawn('sleep', ['600']));
  starts = children.map(({ pid }) => identifyProcess(pid ?? 0) as ProcessIdentity);
});
afterAll(() => {
  for (const child of children) child.kill();
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'home-lock-'));
  path = join(folder, 'start.lock');
});
afterEach(() => {
  hook.beforeOperation = () => {};
  rmSync(folder, { recursive: true });
});

const take = async (start: ProcessIdentity) => takeLock(path, '.tidings', start);

/** Lets the second start run before operation `second` of the first start, and the third start before operation `third`. */
function takeConcurrently(order: ProcessIdentity[], second: number, third: number) {
  const [outer, ...others] = order.map((start) => () => void taking.push(take(start)));
  const taking: Promise<unknown>[] = [];
  let operations = 0;
  hook.beforeOperation = () => {
    const now = operations++;
    const beforeOperation = hook.beforeOperation;
    hook.beforeOperation = () => {};
    if (now === second) others[0]?.();
    if (now === third) others[1]?.();
    hook.beforeOperation = beforeOperation;
  };
  outer?.();
  hook.beforeOperation = () => {};
  return Promise.allSettled(taking);
}

describe('the lock of a home', () => {
  it('has one owner, at whichever moment a second and a third start find the lock of a dead process', async () => {
    const [a, b, c] = starts as [ProcessIdentity, ProcessIdentity, ProcessIdentity];
    for (const order of [
      [a, b, c],
      [c, b, a],
    ]) {
      for (let second = 0; second < OPERATIONS_MAX; second += 1) {
        for (let third = 0; third < OPERATIONS_MAX; third += 1) {
          for (const name of readdirSync(folder)) rmSync(join(folder, name));
          writeFileSync(path, JSON.stringify(DEAD));
          const results = await takeConcurrently(order, second, third);
          const owners = results.filter(({ status }) => status === 'fulfilled').length;
          expect([second, third, owners]).toEqual([second, third, 1]);
        }
      }
    }
  });

  it('refuses another start until its owner releases it', async () => {
    const [a, b] = starts as [ProcessIdentity, ProcessIdentity];
    const lock = await take(a);
    await expect(take(b)).rejects.toThrow(`Tidings already runs on TIDINGS_HOME .tidings (process ${a.pid})`);
    lock.release();
    expect(readdirSync(folder)).toEqual([]);
    (await take(b)).release();
  });
});
