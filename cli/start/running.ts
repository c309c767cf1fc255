import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { StartError } from './error.ts';
import { identifyProcess, isAlive, type ProcessIdentity, waitForEnd } from './processes.ts';

/** A running process of the service. */
export interface Running {
  readonly identity: ProcessIdentity;
  /** Resolves when the process has ended for any reason, with text such as "exit code 1" or "SIGKILL". */
  readonly ended: Promise<string>;
  /** Stops the process gracefully, or by force after `graceMs` (5 s by default). Resolves when it has ended. */
  stop(graceMs?: number): Promise<void>;
  /** Kills the process. */
  kill(): void;
}

type Signals = Pick<Running, 'stop' | 'kill'>;

/** The default of `graceMs`, for callers without a time limit of their own. */
export const STOP_GRACE_MS = 5_000;

/**
 * The interval at which an adopted process is checked. Such a process is not a child of this process, so no event
 * reports its end.
 */
const WATCH_MS = 300;

/**
 * Runs a program in a separate session, so that Ctrl-C in the terminal reaches only the parent. The parent then stops
 * all programs in order.
 * @throws StartError if the program cannot be run or ends immediately
 */
export async function startProcess(
  name: string,
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<{ child: ChildProcess; identity: ProcessIdentity }> {
  const child = spawn(command, args, { ...options, detached: true });
  if (child.pid === undefined) {
    const [error] = await once(child, 'error');
    throw new StartError(`${name} could not be run: ${error.message}.`, { cause: error });
  }
  child.on('error', () => {}); // A signal failed because the process had already ended. The `exit` event reports its end.
  const identity = identifyProcess(child.pid);
  if (!identity) throw new StartError(`${name} ended at once: see its log.`);
  return { child, identity };
}

/** Returns a child of this process as `Running`. */
export function watchChild(child: ChildProcess, identity: ProcessIdentity, signals: Signals): Running {
  const ended = new Promise<string>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(formatExit(child.exitCode, child.signalCode));
    child.once('exit', (code, signal) => resolve(formatExit(code, signal)));
  });
  return { identity, ended, ...signals };
}

/** Returns a process that an earlier start left behind, and that the service continues to use, as `Running`. */
export function adoptProcess(identity: ProcessIdentity, signals: Signals): Running {
  const watch = async (): Promise<string> => {
    while (isAlive(identity)) await waitForEnd(identity, WATCH_MS);
    return 'ended';
  };
  return { identity, ended: watch(), ...signals };
}

function formatExit(code: number | null, signal: NodeJS.Signals | null): string {
  return signal ?? `exit code ${code}`;
}
