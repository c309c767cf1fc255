import { readFileSync } from 'node:fs';
import { createContext, Script } from 'node:vm';

/**
 * The limit of processor time for a piece of work, in milliseconds. `attempts` is the maximum number of attempts if
 * other processes prevent the thread from running.
 */
export interface TimeLimit {
  ms: number;
  attempts: number;
}

/**
 * The limit of this thread, until `setTimeLimit` changes it. A template may block a process for at most 200 ms
 * (contract §4.2 Limits of a template). Stopping the template takes some of this time. A fourth attempt would rarely
 * succeed.
 */
let threadLimit: TimeLimit = { ms: 180, attempts: 3 };

/**
 * Work that got this share of its limit in processor time was not starved. The share is below 1, because the interrupt
 * may come a little early.
 */
const USED_SHARE = 0.9;
/**
 * The maximum duration of an attempt, as a multiple of the limit. Three attempts in a worker thread then end before the
 * thread is ended (`compute/threads.ts`).
 */
const STRETCH_MAX = 10;

/** `run` is the work that runs with a time limit at the moment, or undefined. */
const context = createContext({ run: undefined });
const call = new Script('run()');

/** The work exceeded its time limit. */
export class TimeLimitExceeded extends Error {
  /** True if other processes prevented the thread from running, so the work may be fast in another attempt. */
  readonly starved: boolean;

  constructor(message: string, options: ErrorOptions & { starved?: boolean } = {}) {
    super(message, options);
    this.starved = options.starved ?? false;
  }
}

/** Matches errors of the template library about its limits on input and on the output of filters. */
const LIBRARY_LIMIT = /^(memory alloc|parse length) limit exceeded/;

/** Tells whether an error means that work was stopped at a limit, and not that its input is invalid. */
export function isLimitError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error instanceof TimeLimitExceeded || error.cause instanceof TimeLimitExceeded || LIBRARY_LIMIT.test(error.message)
  );
}

/** Tells whether other processes prevented the thread from running, so the same work may be fast in another attempt. */
export function wasStarved(error: unknown): boolean {
  const exceeded = error instanceof Error && error.cause instanceof TimeLimitExceeded ? error.cause : error;
  return exceeded instanceof TimeLimitExceeded && exceeded.starved;
}

/** Sets the default limit for all further work of this thread. */
export function setTimeLimit(limit: TimeLimit): void {
  threadLimit = limit;
}

/**
 * Runs `work` and stops it after `ms` milliseconds (default: the limit of the thread), even inside a loop, a filter or
 * a regular expression. The limit is processor time of this thread, so that a busy machine rarely stops work. V8 can
 * only interrupt after elapsed time. If the work had not got its processor time by then, it is run again with a longer
 * elapsed time, up to `attempts` times. A call takes about 130 µs, because V8 starts a watchdog thread. Rendering a
 * whole message with plain variables takes about 4 µs, so use this function only for compiling and for templates with
 * loops or costly filters. In nested calls, only the outer limit applies: V8 has one interrupt per thread, and an inner
 * call would consume the interrupt of the outer call, or end the process (a Node assertion).
 * @throws TimeLimitExceeded if the work was stopped; any error of the work itself
 */
export function runWithTimeLimit<T>(work: () => T, ms = threadLimit.ms): T {
  if (context.run) return work();
  let limitMs = ms;
  for (let attempt = 1; ; attempt++) {
    const start = readThreadCpuMs();
    try {
      return runLimited(work, limitMs);
    } catch (error) {
      if (!(error instanceof TimeLimitExceeded)) throw error;
      const cpuMs = readThreadCpuMs() - start;
      const starved = cpuMs < ms * USED_SHARE;
      if (!starved || attempt >= threadLimit.attempts)
        throw new TimeLimitExceeded(error.message, { cause: error.cause, starved });
      limitMs = Math.ceil(Math.min((ms * limitMs) / cpuMs, ms * STRETCH_MAX));
    }
  }
}

/**
 * Runs the work in the VM context with V8's time limit. `displayErrors` is off, because otherwise an assertion in Node
 * fails while it marks the line of an error.
 */
function runLimited<T>(work: () => T, ms: number): T {
  context.run = work;
  try {
    return call.runInContext(context, { timeout: ms, displayErrors: false }) as T;
  } catch (error) {
    if (isTimeout(error)) throw new TimeLimitExceeded(`not done after ${ms} ms`, { cause: error });
    throw error;
  } finally {
    context.run = undefined;
  }
}

function isTimeout(error: unknown): boolean {
  // `instanceof Error` does not work here, because the error belongs to another VM context.
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}

/**
 * Returns the processor time of this thread. If the system does not report this time, returns the time of all threads,
 * which is never less.
 */
export function readThreadCpuMs(): number {
  try {
    const nanoseconds = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0];
    return Number(nanoseconds) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}
