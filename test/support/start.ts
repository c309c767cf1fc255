import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../cli/package-root.ts';
import type { DevFile } from '../../cli/start/dev-file.ts';
import { readJson } from '../../cli/start/private-files.ts';
import { identifyProcess, listProcessesWithArgument } from '../../cli/start/processes.ts';
import { getProgramEnv } from './program-env.ts';
import { until } from './until.ts';

const ROOT = packageRoot();
const BUILT_START = join('dist', 'cli', 'start.js');

export interface StartOptions {
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments for `node`. The default is the built program, which `run.mjs` starts too if the build is current. */
  readonly words?: readonly string[];
}

/** A running `npm start`. */
export interface StartedService {
  readonly pid: number;
  /** Returns the current content of dev.json. */
  dev(): DevFile;
  /** Returns everything that the process has printed. */
  output(): string;
  /** Resolves to the exit code of the process, or to the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals | null>;
  signal(signal: NodeJS.Signals): void;
}

/** Returns the path of a temporary home that does not exist yet. */
export function createHomePath(): string {
  return join(mkdtempSync(join(tmpdir(), 'tidings-home-')), 'home');
}

/** Deletes a home, and ends processes that a failed test has left running on it. */
export async function removeHome(home: string): Promise<void> {
  const left = [`--home=${home}`, join(home, 'postgres', 'data'), join(home, 'temporal', 'temporal.db')];
  for (const identity of left.flatMap(listProcessesWithArgument)) process.kill(identity.pid, 'SIGKILL');
  rmSync(join(home, '..'), { recursive: true, force: true, maxRetries: 10 });
}

/** Starts the service on a home and returns when dev.json names the new process. */
export async function startService(options: StartOptions): Promise<StartedService> {
  const service = spawnStart(options);
  await waitForCondition(service, () => readDevFile(options.home)?.pids.start === service.pid);
  return service;
}

/** Starts the service and waits until it ends, for tests of starts that are refused. */
export async function startAndWaitForExit(
  options: StartOptions,
): Promise<{ code: number | NodeJS.Signals | null; output: string }> {
  const service = spawnStart(options);
  const code = await service.exited;
  return { code, output: service.output() };
}

/**
 * Waits until the condition is true. If that takes too long, or if the service has ended, fails with the service's
 * output.
 */
export async function waitForCondition(
  service: StartedService,
  condition: () => boolean | Promise<boolean>,
): Promise<void> {
  const reasonToStop = () => (identifyProcess(service.pid) === undefined ? 'the service ended' : undefined);
  await until(condition, 'the condition', { reasonToStop }).catch((error: Error) => {
    throw new Error(`${error.message}:\n${service.output()}`);
  });
}

/**
 * Waits for the sign-in link in the output of a start, and returns it. The link is printed after dev.json is written.
 */
export async function readSignInLink(service: StartedService): Promise<string> {
  const found = () => /^ +Dashboard +(http\S+\/auth\/link\/\S+)/m.exec(service.output())?.[1];
  await waitForCondition(service, () => found() !== undefined);
  return found() ?? '';
}

/** Returns the pids of all processes of a running service, including the parent. */
export function listPids(dev: DevFile): number[] {
  const { start, api, workers, postgres, temporal } = dev.pids;
  return [start, api, ...workers, postgres, temporal].filter((pid) => pid !== null);
}

function spawnStart({ home, env, words = [BUILT_START] }: StartOptions): StartedService {
  // Uses the strictest umask and no locale, as on servers and in containers.
  const child = spawn('/bin/sh', ['-c', 'umask 077; exec "$0" "$@"', process.execPath, ...words], {
    cwd: ROOT,
    env: { ...getProgramEnv(), HOME: process.env.HOME, TIDINGS_HOME: home, PORT: '0', WORKERS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = collectOutput(child);
  const exited = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('close', (code, signal) => resolve(signal ?? code)),
  );
  return {
    pid: child.pid ?? 0,
    dev: () => {
      const dev = readDevFile(home);
      if (dev === undefined) throw new Error(`there is no dev.json:\n${text()}`);
      return dev;
    },
    output: text,
    exited,
    signal: (signal) => child.kill(signal),
  };
}

function readDevFile(home: string): DevFile | undefined {
  const file = join(home, 'dev.json');
  return existsSync(file) ? readJson<DevFile>(file) : undefined;
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
