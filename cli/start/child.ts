import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Environment } from '../../rules/config.ts';
import { packageRoot } from '../package-root.ts';
import { StartError } from './error.ts';
import type { Home } from './home.ts';
import { followWarnings } from './log-tail.ts';
import { openLog } from './logs.ts';
import { endProcess, sendSignal } from './processes.ts';
import { type Running, STOP_GRACE_MS, startProcess, watchChild } from './running.ts';

/**
 * The time limit for the start of a child. A worker needs one second for imports, and then connects to Postgres and
 * Temporal. On a busy machine, the start takes longer.
 */
const READY_TIMEOUT_MS = 60_000;

/**
 * V8 options of a worker, which reduce its peak memory in a campaign by 25 % at the same speed. V8's young generation
 * has 16 MB by default. With 16 MB, emails in progress survive two minor collections and stay in memory until a full
 * collection. Before a full collection, the heap may grow fourfold, or only double if its limit is below 2 GB.
 * docs/scaling.md describes these options for workers that `npm start` does not start.
 */
const WORKER_HEAP = ['--max-old-space-size=2000', '--max-semi-space-size=32'];

export interface ChildOptions {
  /** The name of the child in messages. */
  readonly name: string;
  /** dist/cli/<command>.js */
  readonly command: 'api' | 'worker';
  readonly env: Environment;
  readonly home: Home;
  readonly logFile: string;
  readonly writeLine: (line: string) => void;
}

/**
 * Starts an API or a worker in a separate process, and resolves when the child reports that it is ready. If this
 * process is killed, the child notices that its IPC channel is closed, and stops gracefully.
 * @throws StartError that names the child's log, if the child ends before it is ready or takes too long
 */
export async function startChild(options: ChildOptions): Promise<Running> {
  const log = openLog(options.logFile);
  const script = join(packageRoot(), 'dist', 'cli', `${options.command}.js`);
  const started = startProcess(
    options.name,
    process.execPath,
    [
      '--enable-source-maps',
      ...(options.command === 'worker' ? WORKER_HEAP : []),
      script,
      toHomeArgument(options.home),
    ],
    {
      env: options.env,
      stdio: ['ignore', log.descriptor, log.descriptor, 'ipc'],
    },
  );
  log.close();
  const { child, identity } = await started;
  const tail = followWarnings(options.logFile, log.offset, (line) => options.writeLine(`${options.name}: ${line}`));
  const running = watchChild(child, identity, {
    stop: (graceMs = STOP_GRACE_MS) => endProcess(identity, 'SIGTERM', graceMs),
    kill: () => sendSignal(identity, 'SIGKILL'),
  });
  void running.ended.then(() => tail.stop());
  await waitUntilReady(child, running, options);
  return running;
}

/**
 * Returns a command-line argument for the children of a home. By this argument, a later `npm start` finds children that
 * a killed `npm start` left behind.
 */
export function toHomeArgument(home: Home): string {
  return `--home=${home.folder}`;
}

async function waitUntilReady(child: ChildProcess, running: Running, options: ChildOptions): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const outcome = await Promise.race([
    new Promise<'ready'>((resolve) => child.on('message', (message) => message === 'ready' && resolve('ready'))),
    running.ended,
    new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), READY_TIMEOUT_MS);
    }),
  ]);
  clearTimeout(timer);
  if (outcome === 'ready') return;
  running.kill();
  const what =
    outcome === 'late' ? `was not ready after ${READY_TIMEOUT_MS / 1000} s` : `ended (${outcome}) before it was ready`;
  throw new StartError(`${options.name} ${what}: see ${options.logFile}.`);
}
