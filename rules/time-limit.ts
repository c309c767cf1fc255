import { readFileSync } from 'node:fs';
import { createContext, Script } from 'node:vm';

/**
 * Limit of a piece of work in processor time, and the number of attempts if other processes keep its thread from running.
 */
export interface TimeLimit {
  ms: number;
  attempts: number;
}

/**
 * A template may hold a process for 200 ms (contract §4.2 Limits of a template); the rest is for stopping it. A
 * fourth attempt would rarely succeed.
 */
let bound: TimeLimit = { ms: 180, attempts: 3 };

/** Work that used this share of its limit was not starved. An interrupt comes a little early or late. */
const USED_SHARE = 0.9;
/**
 * An attempt gets at most this multiple of its limit in passing time. Three attempts of a thread then end before the
 * thread is ended (`compute/threads.ts`).
 */
const STRETCH_MAX = 10;

/** `run` is the work that is running within a time limit at the moment, if any. */
const context = createContext({ run: undefined });
const call = new Script('run()');

/** The work exceeded its time limit. */
export class TimeLimitExceeded extends Error {
  /** True if other processes kept the thread from running, so the work may be fast in another attempt. */
  readonly starved: boolean;

  constructor(message: string, options: ErrorOptions & { starved?: boolean } = {}) {
    super(message, options);
    this.starved = options.starved ?? false;
  }
}

/** The errors of the template library for its own limits on input and on the output of filters. */
const LIBRARY_LIMIT = /^(memory alloc|parse length) limit exceeded/;

/** Tells whether an error means that work was stopped at a limit, not that the work itself is invalid. */
export function exceededLimit(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error instanceof TimeLimitExceeded || error.cause instanceof TimeLimitExceeded || LIBRARY_LIMIT.test(error.message)
  );
}

/** Tells whether other processes kept the thread from running, so that the same work may be fast in another attempt. */
export function wasStarved(error: unknown): boolean {
  const exceeded = error instanceof Error && error.cause instanceof TimeLimitExceeded ? error.cause : error;
  return exceeded instanceof TimeLimitExceeded && exceeded.starved;
}

/**
 * Sets the limits for all further work of this thread. A thread whose result is not urgent can allow more time and
 * needs no further attempts.
 */
export function setTimeLimit(given: TimeLimit): void {
  bound = given;
}

/**
 * Runs `work` and stops it after `ms` (default: the limit of the thread), whatever it is doing: a loop, a filter or a
 * regular expression. The limit counts the processor time of this thread, so a busy machine refuses no work. V8's
 * interrupt can only measure the time that passes: work that was interrupted before it had its processor time restarts
 * with as much more time as it lacked. A call costs about 130 µs (V8 starts a watchdog thread), 30 times a whole message of plain variables.
 * Callers use it for compiling and for templates with loops or costly filters, not for templates that cannot take long.
 * In nested calls only the outer limit applies. V8 has one interrupt per thread, and an inner call would swallow the
 * interrupt of an outer one, or end the process (a Node assertion).
 * @throws TimeLimitExceeded
 */
export function runWithTimeLimit<T>(work: () => T, ms = bound.ms): T {
  if (context.run) return work();
  let limitMs = ms;
  for (let attempt = 1; ; attempt++) {
    const start = threadCpuMs();
    try {
      return runLimited(work, limitMs);
    } catch (error) {
      if (!(error instanceof TimeLimitExceeded)) throw error;
      const cpuMs = threadCpuMs() - start;
      const starved = cpuMs < ms * USED_SHARE;
      if (!starved || attempt >= bound.attempts)
        throw new TimeLimitExceeded(error.message, { cause: error.cause, starved });
      limitMs = Math.ceil(Math.min((ms * limitMs) / cpuMs, ms * STRETCH_MAX));
    }
  }
}

/** `displayErrors` is off, because Node's assertion fails while it marks the line of an error. */
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
  // `instanceof Error` does not work, because the error belongs to the script's own context.
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}

/**
 * Returns the processor time of this thread. If Linux does not report it, the time of all threads, which is never
 * less.
 */
export function threadCpuMs(): number {
  try {
    const nanoseconds = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0];
    return Number(nanoseconds) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}
