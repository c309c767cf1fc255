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

/** A worker imports for a second, connects and registers; a busy machine takes its time. */
const READY_TIMEOUT_MS = 60_000;

/**
 * Emails in progress survive two scavenges of V8's usual 16 MB and then wait for a full collection, before which the
 * heap may grow fourfold. With a larger young generation, and a heap below 2 GB, which may only double, a worker
 * under a campaign peaks 25 % lower at the same speed. docs/scaling.md describes it for workers that are started
 * otherwise.
 */
const WORKER_HEAP = ['--max-old-space-size=2000', '--max-semi-space-size=32'];

export interface ChildOptions {
  /** As it shows in messages and as the name of its log. */
  readonly name: string;
  /** dist/cli/<command>.js */
  readonly command: 'api' | 'worker';
  readonly env: Environment;
  readonly home: Home;
  readonly logFile: string;
  readonly tell: (line: string) => void;
}

/**
 * Starts an API or a worker as a process of its own and returns when it says that it is ready. It notices by the
 * channel between us when this process is killed, and then ends in order too.
 * @throws StartError when it ends before it is ready or takes too long; the message names its log
 */
export async function startChild(options: ChildOptions): Promise<Running> {
  const log = openLog(options.logFile);
  const script = join(packageRoot(), 'dist', 'cli', `${options.command}.js`);
  const started = startProcess(
    options.name,
    process.execPath,
    ['--enable-source-maps', ...(options.command === 'worker' ? WORKER_HEAP : []), script, homeArgument(options.home)],
    {
      env: options.env,
      stdio: ['ignore', log.descriptor, log.descriptor, 'ipc'],
    },
  );
  log.close();
  const { child, mark } = await started;
  const tail = followWarnings(options.logFile, log.offset, (line) => options.tell(`${options.name}: ${line}`));
  const running = watchChild(child, mark, {
    stop: (graceMs = STOP_GRACE_MS) => endProcess(mark, 'SIGTERM', graceMs),
    kill: () => sendSignal(mark, 'SIGKILL'),
  });
  void running.ended.then(() => tail.stop());
  await ready(child, running, options);
  return running;
}

/** By this word of its command line a later start finds a child that was left behind. */
export function homeArgument(home: Home): string {
  return `--home=${home.folder}`;
}

async function ready(child: ChildProcess, running: Running, options: ChildOptions): Promise<void> {
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
