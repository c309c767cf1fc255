import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { packageRoot } from '../../cli/package-root.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from '../../cli/start/processes.ts';
import { findChromium } from '../support/browser/chromium.ts';
import { until } from '../support/until.ts';

let run: ChildProcess | undefined;
afterEach(() => run?.kill('SIGKILL'));

/** Starts `test/support/interrupted-run.ts` and returns its temporary folder when all its processes are there. */
async function startRun(): Promise<string> {
  const { PATH, HOME, TMPDIR } = process.env;
  const words = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/support/interrupted-run.config.ts'];
  const child = spawn(process.execPath, words, {
    cwd: packageRoot(),
    env: { PATH, HOME, TMPDIR },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  run = child;
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  // After `close`, the output is complete. After `exit`, it may not be.
  let isClosed = false;
  child.once('close', () => (isClosed = true));
  const reasonToStop = () =>
    isClosed ? `exit code ${child.exitCode}, signal ${child.signalCode}: ${output}` : undefined;
  return until(() => /RUNNING in (\S+)/.exec(output)?.[1], 'the run', { timeoutMs: 300_000, reasonToStop });
}

/** Returns a process and all its descendants. */
function listProcessTree(pid: number): number[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const children = all.filter((name) => findParent(name) === pid).map(Number);
  return [pid, ...children.flatMap(listProcessTree)];
}

function findParent(pid: string): number | undefined {
  try {
    const stat = readFileSync(join('/proc', pid, 'stat'), 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ')[0]);
  } catch {
    return undefined; // The process has ended meanwhile.
  }
}

function readCommand({ pid }: ProcessIdentity): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
}

describe.skipIf(process.platform !== 'linux')('a test run leaves no process and no file behind', () => {
  it.each<[string, (child: ChildProcess) => void]>([
    ['is interrupted', (child) => child.kill('SIGINT')],
    ['is terminated', (child) => child.kill('SIGTERM')],
    ['is killed', (child) => child.kill('SIGKILL')],
    ['loses its parent process', (child) => child.disconnect()],
  ])('if the run %s', async (_, end) => {
    const folder = dirname(await startRun());
    const processes = listProcessTree(run?.pid ?? 0).flatMap((pid) => identifyProcess(pid) ?? []);
    const commands = processes.map(readCommand).join('\n');
    for (const program of [/bin\/postgres .*-D /, /server start-dev/, /dist\/cli\/worker\.js/, /dist\/cli\/start\.js/])
      expect(commands).toMatch(program);
    if (typeof (await findChromium()) !== 'string') expect(commands).toMatch(/chrom(e|ium).*--headless/);
    end(run as ChildProcess);
    await until(() => !processes.some(isAlive), 'the end of all processes');
    await until(() => !existsSync(folder), 'the removal of its files');
  });
});
