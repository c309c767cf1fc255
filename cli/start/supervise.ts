import type { Running } from './running.ts';

/** The delay before each restart of a part. After the last delay of the list, that delay repeats. */
const BACKOFF_MS = [100, 500, 1_000, 2_000, 5_000, 10_000];
/** If a part has run for this long, the next restart has the first delay again. */
const STEADY_MS = 60_000;

/**
 * The time to stop for a process that was still starting when the service was stopped. After this time, the process is
 * killed. The time is short, because a process that has just started has no work to finish.
 */
const LATE_STOP_MS = 1_000;

export interface SuperviseOptions<T extends Running> {
  readonly name: string;
  /**
   * Starts the part. This function is also called for restarts, so it must handle files and processes that the previous
   * process left behind.
   */
  readonly start: () => Promise<T>;
  readonly writeLine: (line: string) => void;
  /** Called after every start with the new process. */
  readonly onStarted: (running: Running) => void;
}

/** A part of the service that is restarted whenever it ends unexpectedly. */
export interface Supervised {
  /** Stops the part gracefully, or by force after `graceMs`, and does not restart it. Resolves when it has ended. */
  stop(graceMs: number): Promise<void>;
  /** Kills the part and does not restart it. */
  kill(): void;
}

/**
 * Starts a part of the service and restarts it, with backoff, whenever it ends unexpectedly.
 * @throws the error of the first start, because a service that cannot start must not retry forever
 */
export async function supervise<T extends Running>(options: SuperviseOptions<T>): Promise<Supervised & { first: T }> {
  const first = await options.start();
  const state = { stopping: false, deaths: 0, running: first, wake: () => {} };
  options.onStarted(first);
  const loop = keepRunning(options, state);
  return {
    first,
    stop: async (graceMs) => {
      state.stopping = true;
      state.wake();
      await state.running.stop(graceMs);
      await loop;
    },
    kill: () => {
      state.stopping = true;
      state.wake();
      state.running.kill();
    },
  };
}

interface State<T> {
  stopping: boolean;
  deaths: number;
  running: T;
  wake: () => void;
}

async function keepRunning<T extends Running>(options: SuperviseOptions<T>, state: State<T>): Promise<void> {
  while (true) {
    const startedAt = Date.now();
    const reason = await state.running.ended;
    if (state.stopping) return;
    if (Date.now() - startedAt > STEADY_MS) state.deaths = 0;
    options.writeLine(`${options.name} (process ${state.running.identity.pid}) ended unexpectedly: ${reason}`);
    if (!(await startAgain(options, state))) return;
  }
}

/** Tries to restart the part until it runs again. Returns false if the part is being stopped. */
async function startAgain<T extends Running>(options: SuperviseOptions<T>, state: State<T>): Promise<boolean> {
  while (!state.stopping) {
    const delayMs = BACKOFF_MS[Math.min(state.deaths++, BACKOFF_MS.length - 1)] ?? 0;
    options.writeLine(`${options.name} restarts in ${delayMs / 1000} s`);
    await wait(delayMs, state);
    if (state.stopping) return false;
    try {
      state.running = await options.start();
    } catch (error) {
      options.writeLine(`${options.name} did not start: ${error instanceof Error ? error.message : error}`);
      continue;
    }
    // The part was stopped while it was starting. Only this function has the new process, so it must stop the process.
    if (state.stopping) await state.running.stop(LATE_STOP_MS);
    else options.writeLine(`${options.name} runs again (process ${state.running.identity.pid})`);
    options.onStarted(state.running);
    return !state.stopping;
  }
  return false;
}

function wait(ms: number, state: { wake: () => void }): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    state.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}
