import { spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import type { Environment } from '../../rules/config.ts';
import { StartError } from './error.ts';
import { identifyProcess } from './processes.ts';
import { extractFile } from './tar.ts';

/**
 * The newest version of Temporal's CLI that `go install` accepts. Later versions have replace directives in their
 * go.mod, which `go install` refuses.
 */
const VERSION = '1.5.1';
const GO_PACKAGE = `github.com/temporalio/cli/cmd/temporal@v${VERSION}`;
const PROGRAM = process.platform === 'win32' ? 'temporal.exe' : 'temporal';
/**
 * The time limit for connecting to the download server. If the server does not respond in this time, this machine
 * probably has no access to the internet. A build is then more likely to succeed, because Go may have its own proxy.
 */
const DOWNLOAD_CONNECT_MS = 5_000;
/** The time limit for the whole download, which is enough for 60 MB over a slow connection. */
const DOWNLOAD_TOTAL_MS = 180_000;
/** The time limit for a build. A build took 2 min 20 s on two cores, plus the time for downloads. */
const BUILD_TIMEOUT_MS = 20 * 60_000;
const BUILD_PROGRESS_MS = 20_000;
const OTHER_PROCESS_CHECK_MS = 500;
/** The name of a staging folder, with the id of the process that writes to it. */
const STAGING = /^\.staging-(\d+)$/;
const VERSION_TIMEOUT_MS = 5_000;
/**
 * Folders in which Go's installer and package managers put the program `go`. The build looks in these folders if `go`
 * is not on PATH.
 */
const GO_FOLDERS = ['/usr/local/go/bin', '/usr/lib/go/bin', '/opt/homebrew/bin', '/snap/bin'];

export interface TemporalBinaryOptions {
  /** TEMPORAL_CLI_PATH. */
  readonly cliPath: string | undefined;
  /** Folder for programs in the home. */
  readonly binFolder: string;
  /** The environment, with PATH, HOME and XDG_CACHE_HOME. A build with Go gets all of its variables. */
  readonly env: Environment;
  /** Called before each step that takes time. */
  readonly progress: (line: string) => void;
  readonly signal: AbortSignal;
  /** URL of the official archive. Tests replace it. */
  readonly downloadUrl?: string;
  /** Folders in which the build looks for Go, besides PATH. Empty in tests. */
  readonly goFolders?: readonly string[];
}

/**
 * Returns the path of a `temporal` program: TEMPORAL_CLI_PATH if it is set. Otherwise looks on PATH, in the home and in
 * the user's cache folder. If the program is in none of these places, downloads the official program. If the download
 * fails, builds the program with `go install` (docs/operate/install.md).
 * @throws StartError that says what the user can do, if no program works
 */
export async function findTemporalBinary(options: TemporalBinaryOptions): Promise<string> {
  if (options.cliPath !== undefined) return requireBinary(options.cliPath);
  const savedPrograms = [options.binFolder, getCacheFolder(options.env)].map((folder) => join(folder, PROGRAM));
  const found = findOnPath(PROGRAM, options.env) ?? savedPrograms.find(canRun) ?? (await awaitOtherProcess(options));
  if (found !== undefined) return found;
  const reasons = [] as string[];
  for (const source of [downloadProgram, buildWithGo]) {
    options.signal.throwIfAborted();
    try {
      return await source(options);
    } catch (error) {
      options.signal.throwIfAborted();
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new StartError(
    `Temporal was not found. Set TEMPORAL_ADDRESS to a server, or TEMPORAL_CLI_PATH to the temporal program. Or put temporal on PATH or into ${options.binFolder}, allow the download (${reasons[0]}), or install Go to build it (${reasons[1]}).`,
  );
}

/**
 * Waits while another process downloads or builds the program for the cache, because two builds at the same time take
 * longer than one after the other. Returns the path of the program. Undefined if no other process is downloading or
 * building, or if the other process failed.
 */
async function awaitOtherProcess({ env, progress, signal }: TemporalBinaryOptions): Promise<string | undefined> {
  const folder = getCacheFolder(env);
  if (!isStagedByOther(folder)) return undefined;
  progress('Another process is already fetching or building Temporal: waiting for it …');
  while (isStagedByOther(folder)) await sleep(OTHER_PROCESS_CHECK_MS, undefined, { signal });
  return [join(folder, PROGRAM)].find(canRun);
}

/** Tells whether another process is writing to a staging folder. A killed process leaves its folder behind. */
function isStagedByOther(folder: string): boolean {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.some((name) => {
    const pid = Number(STAGING.exec(name)?.[1]);
    if (Number.isNaN(pid) || pid === process.pid || !identifyProcess(pid)) return false;
    const { mtimeMs = 0 } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {};
    return mtimeMs > Date.now() - BUILD_TIMEOUT_MS;
  });
}

function requireBinary(path: string): string {
  if (canRun(path)) return path;
  throw new StartError(`TEMPORAL_CLI_PATH must be the path of the temporal program, not ${JSON.stringify(path)}.`);
}

async function downloadProgram(options: TemporalBinaryOptions): Promise<string> {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const url =
    options.downloadUrl ??
    `https://temporal.download/cli/archive/v${VERSION}?platform=${process.platform}&arch=${architecture}`;
  options.progress(`Temporal is not on this machine: downloading version ${VERSION} …`);
  const archive = await fetchArchive(url, options.signal).catch((error) => {
    options.progress('Temporal could not be downloaded.');
    throw error;
  });
  const program = extractFile(gunzipSync(archive), PROGRAM);
  return saveProgram(options, (staging) => writeFileSync(join(staging, PROGRAM), program));
}

async function fetchArchive(url: string, signal: AbortSignal): Promise<Buffer> {
  const connecting = new AbortController();
  const timer = setTimeout(() => connecting.abort(new Error('no response')), DOWNLOAD_CONNECT_MS);
  try {
    const signals = AbortSignal.any([signal, connecting.signal, AbortSignal.timeout(DOWNLOAD_TOTAL_MS)]);
    const response = await fetch(url, { signal: signals });
    clearTimeout(timer);
    if (!response.ok) throw new Error(`${url} responded with ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  } catch (cause) {
    throw new Error(`${new URL(url).host} could not be reached`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

async function buildWithGo(options: TemporalBinaryOptions): Promise<string> {
  const go =
    findOnPath('go', options.env) ??
    (options.goFolders ?? GO_FOLDERS).map((folder) => join(folder, 'go')).find(isExecutable);
  if (go === undefined) throw new Error('Go was not found');
  options.progress(`Building Temporal ${VERSION} with ${go}: 2 to 5 minutes, once on this machine …`);
  return saveProgram(options, (staging) => runGoInstall(go, staging, options));
}

async function runGoInstall(go: string, staging: string, options: TemporalBinaryOptions): Promise<void> {
  const startedAt = Date.now();
  const child = spawn(go, ['install', '-ldflags=-s -w', GO_PACKAGE], {
    env: { HOME: homedir(), ...options.env, GOBIN: staging, CGO_ENABLED: '0' },
    cwd: staging,
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: AbortSignal.any([options.signal, AbortSignal.timeout(BUILD_TIMEOUT_MS)]),
  });
  const ticker = setInterval(() => {
    options.progress(`Building Temporal … ${Math.round((Date.now() - startedAt) / 1000)} s`);
  }, BUILD_PROGRESS_MS);
  let errorOutput = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-2_000);
  });
  try {
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    if (code !== 0) throw new Error(`go install failed: ${errorOutput.trim().split('\n').at(-1)}`);
  } finally {
    clearInterval(ticker);
  }
}

/**
 * Calls `make`, which writes the program to a staging folder, and then moves the program atomically to its final
 * folder. So no incomplete program is ever used.
 */
async function saveProgram(options: TemporalBinaryOptions, make: (staging: string) => unknown): Promise<string> {
  const folder = findWritableFolder([getCacheFolder(options.env), options.binFolder]);
  const staging = join(folder, `.staging-${process.pid}`);
  mkdirSync(staging, { recursive: true });
  try {
    await make(staging);
    chmodSync(join(staging, PROGRAM), 0o755);
    renameSync(join(staging, PROGRAM), join(folder, PROGRAM));
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  if (!canRun(join(folder, PROGRAM))) throw new Error(`${join(folder, PROGRAM)} does not run on this machine`);
  return join(folder, PROGRAM);
}

function findWritableFolder(folders: readonly string[]): string {
  for (const folder of folders) {
    try {
      mkdirSync(folder, { recursive: true });
      accessSync(folder, constants.W_OK);
      return folder;
    } catch {
      // This folder cannot be used, so the loop continues with the next folder. The last folder is in the home, which
      // is writable.
    }
  }
  throw new Error('no folder can be written to');
}

function getCacheFolder(env: Environment): string {
  return join(env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache'), 'tidings');
}

function findOnPath(program: string, env: Environment): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders
    .map((folder) => join(folder, program))
    .find((path) => (program === PROGRAM ? canRun(path) : isExecutable(path)));
}

/**
 * Tells whether this machine can run a program. A damaged program, or a program for another system, fails at once. If a
 * program runs but does not reply in time, the machine is busy. The program then counts as working, because a download
 * or build would only add to the load.
 */
function canRun(path: string): boolean {
  if (!isExecutable(path)) return false;
  const { status, error } = spawnSync(path, ['--version'], { timeout: VERSION_TIMEOUT_MS, stdio: 'ignore' });
  return status === 0 || (error !== undefined && 'code' in error && error.code === 'ETIMEDOUT');
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
