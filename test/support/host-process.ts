import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { packageRoot } from '../../cli/package-root.ts';
import { TEST_SECRET_KEY } from '../build/senders.ts';
import type { TestDatabase } from './database.ts';
import { getProgramEnv } from './program-env.ts';
import type { TestTemporal } from './services.ts';

/**
 * `npm run api` or `npm run worker` as a separate process that a test can kill. It is configured by its environment
 * only.
 */
export interface HostProcess {
  readonly pid: number;
  output(): string;
  /** Sends SIGKILL and waits for the end of the process. */
  kill(): Promise<void>;
  /** Sends SIGTERM and waits for the orderly end. */
  stop(): Promise<void>;
}

/** Starts dist/cli/<command>.js with this environment only. Returns when `isUp` returns true. */
export async function startHostProcess(
  command: 'api' | 'worker',
  env: Record<string, string>,
  isUp: (output: string) => boolean | Promise<boolean>,
): Promise<HostProcess> {
  const child = spawn(process.execPath, [join(packageRoot(), 'dist', 'cli', `${command}.js`)], {
    env: { ...getProgramEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collectOutput(child);
  const host = {
    pid: child.pid ?? 0,
    output,
    kill: () => endProcess(child, 'SIGKILL'),
    stop: () => endProcess(child, 'SIGTERM'),
  };
  while (!(await isUp(output()))) {
    if (child.exitCode !== null) throw new Error(`the ${command} ended:\n${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return host;
}

/** Starts a worker with a test's database and Temporal. Returns when the worker asks for tasks. */
export function startWorkerHost(p: {
  database: TestDatabase;
  temporal: TestTemporal;
  env?: Record<string, string>;
}): Promise<HostProcess> {
  const env = {
    DATABASE_URL: p.database.url,
    TEMPORAL_ADDRESS: p.temporal.address,
    TEMPORAL_NAMESPACE: p.temporal.namespace,
    SECRET_KEY: TEST_SECRET_KEY,
    ...p.env,
  };
  return startHostProcess('worker', env, (output) => output.includes('takes tasks'));
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill(signal);
  await ended;
}

function collectOutput(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  return () => text;
}
