import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Identifies a process. The start time distinguishes it from a later process with the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** The start time of the process, as the system reports it. It is used only for comparisons. */
  readonly startedAt: string;
}

const POLL_MS = 50;
const ON_LINUX = process.platform === 'linux';

/** Returns the pid and start time of a living process. Undefined if the process has ended or is a zombie. */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  const startedAt = ON_LINUX ? readStartTimeFromProc(pid) : readStartTimeFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
}

/** Tells whether this process is alive. Returns false if another process has got its pid. */
export function isAlive(identity: ProcessIdentity): boolean {
  return identifyProcess(identity.pid)?.startedAt === identity.startedAt;
}

/** Waits until the process has ended. Returns false after `timeoutMs`. */
export async function waitForEnd(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (isAlive(identity)) {
    if (Date.now() >= deadline) return false;
    await sleep(POLL_MS);
  }
  return true;
}

/**
 * Sends `signal`, and SIGKILL if the process still runs after `graceMs`. Resolves when the process has ended, or
 * another `graceMs` later.
 */
export async function endProcess(identity: ProcessIdentity, signal: NodeJS.Signals, graceMs: number): Promise<void> {
  sendSignal(identity, signal);
  if (await waitForEnd(identity, graceMs)) return;
  sendSignal(identity, 'SIGKILL');
  await waitForEnd(identity, graceMs);
}

/** Sends a signal to the process, unless another process has got its pid. */
export function sendSignal(identity: ProcessIdentity, signal: NodeJS.Signals): void {
  if (!isAlive(identity)) return;
  try {
    process.kill(identity.pid, signal);
  } catch {
    // The process ended between the check and the signal.
  }
}

/** Lists other living processes whose working directory is `folder`. Empty on systems other than Linux. */
export function listProcessesIn(folder: string): ProcessIdentity[] {
  return listLinuxProcesses((pid) => readlinkSync(`/proc/${pid}/cwd`) === folder);
}

/** Lists living processes with `argument` in their command line, even if another process started them. */
export function listProcessesWithArgument(argument: string): ProcessIdentity[] {
  if (ON_LINUX)
    return listLinuxProcesses((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument));
  const lines = execFileSync('ps', ['-axww', '-o', 'pid=,command='], { encoding: 'utf8' }).split('\n');
  return lines
    .filter((line) => line.includes(argument))
    .flatMap((line) => identifyProcess(Number.parseInt(line, 10)) ?? []);
}

function listLinuxProcesses(matches: (pid: number) => boolean): ProcessIdentity[] {
  if (!ON_LINUX) return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && readOrUndefined(() => matches(pid)))
    .flatMap((pid) => identifyProcess(pid) ?? []);
}

/**
 * Returns the start time of a process: field 22 of /proc/<pid>/stat, in clock ticks since boot. Undefined for a zombie,
 * which counts as ended.
 */
function readStartTimeFromProc(pid: number): string | undefined {
  const stat = readOrUndefined(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields === undefined || fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
}

/** Returns the start time of a process as `ps` prints it, on systems without /proc. Undefined for a zombie. */
function readStartTimeFromPs(pid: number): string | undefined {
  const line = readOrUndefined(() =>
    execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }),
  );
  return line === undefined || line.trim() === '' || line.startsWith('Z')
    ? undefined
    : line.trim().replace(/^\S+\s+/, '');
}

/** Calls `read`, which reads from /proc or ps. Returns undefined if it throws, because the process has ended. */
function readOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
