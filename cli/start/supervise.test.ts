import { expect, it } from 'vitest';
import type { Running } from './running.ts';
import { supervise } from './supervise.ts';

/** A process that ends when the test says so. */
function fakeRun(pid: number): Running & { end: (reason: string) => void; stopped: () => boolean } {
  let end: (reason: string) => void = () => {};
  let stopped = false;
  const ended = new Promise<string>((resolve) => {
    end = resolve;
  });
  return {
    identity: { pid, startedAt: '0' },
    ended,
    stop: async () => {
      stopped = true;
      end('SIGTERM');
    },
    kill: () => end('SIGKILL'),
    end,
    stopped: () => stopped,
  };
}

async function startSupervised(starts: (() => Promise<ReturnType<typeof fakeRun>>)[]) {
  const lines: string[] = [];
  const pids: number[] = [];
  let onPid: () => void = () => {};
  const started = (count: number) =>
    new Promise<void>((resolve) => {
      onPid = () => pids.length >= count && resolve();
      onPid();
    });
  let next = 0;
  const part = await supervise({
    name: 'part',
    start: () => starts[next++]?.() ?? Promise.reject(new Error('no more')),
    writeLine: (line) => lines.push(line),
    onStarted: (running) => {
      pids.push(running.identity.pid);
      onPid();
    },
  });
  return { part, lines, pids, started };
}

it('restarts a part that ended unexpectedly, and reports it', async () => {
  const [first, second] = [fakeRun(1), fakeRun(2)];
  const { part, lines, pids, started } = await startSupervised([async () => first, async () => second]);
  first.end('exit code 1');
  await started(2);
  expect(pids).toEqual([1, 2]);
  expect(lines).toEqual([
    'part (process 1) ended unexpectedly: exit code 1',
    'part restarts in 0.1 s',
    'part runs again (process 2)',
  ]);
  await part.stop(1_000);
  expect(second.stopped()).toBe(true);
});

it('retries a failed start, after a longer wait', async () => {
  const [first, second] = [fakeRun(1), fakeRun(2)];
  const fail = () => Promise.reject(new Error('port taken'));
  const { part, lines, started } = await startSupervised([async () => first, fail, async () => second]);
  first.end('SIGKILL');
  await started(2);
  expect(lines.slice(1)).toEqual([
    'part restarts in 0.1 s',
    'part did not start: port taken',
    'part restarts in 0.5 s',
    'part runs again (process 2)',
  ]);
  await part.stop(1_000);
});

it('does not retry a failed first start', async () => {
  await expect(startSupervised([() => Promise.reject(new Error('bad settings'))])).rejects.toThrow('bad settings');
});

it('does not restart a stopped part, also while it waits for its next start', async () => {
  const first = fakeRun(1);
  const { part, pids, lines } = await startSupervised([async () => first, async () => fakeRun(2)]);
  first.end('SIGKILL');
  await expect.poll(() => lines.length).toBe(2);
  await part.stop(1_000);
  expect(pids).toEqual([1]);
});
