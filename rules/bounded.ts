import { readFileSync } from 'node:fs';
import { createContext, Script } from 'node:vm';

/** Time limit of a piece of work, and the number of attempts when the machine gives its thread no processor. */
export interface Bound {
  ms: number;
  attempts: number;
}

/**
 * A template may hold a process for 200 ms (contract §4.2 Limits of a template); the rest is for stopping it. A
 * fourth attempt would rarely succeed.
 */
let bound: Bound = { ms: 180, attempts: 3 };

/** `run` is the work that is within its bound just now, if any. */
const context = createContext({ run: undefined });
const call = new Script('run()');

/** The work did not end within its bound. */
export class BoundExceeded extends Error {
  /** Whether the machine gave the thread no processor meanwhile: the work may be quick another time. */
  readonly starved: boolean;

  constructor(message: string, options: ErrorOptions & { starved?: boolean } = {}) {
    super(message, options);
    this.starved = options.starved ?? false;
  }
}

/** How the template library says that its own count of time, or of what filters build, has passed its limit. */
const LIBRARY_LIMIT = /^(template render|memory alloc|parse length) limit exceeded/;

/** Whether an error says that work was stopped because it took too much, and not that something is wrong with it. */
export function tookTooMuch(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof BoundExceeded || error.cause instanceof BoundExceeded || LIBRARY_LIMIT.test(error.message);
}

/** Whether that is because the machine gave the thread no processor, so that the same work may be quick another time. */
export function wasStarved(error: unknown): boolean {
  const exceeded = error instanceof Error && error.cause instanceof BoundExceeded ? error.cause : error;
  return exceeded instanceof BoundExceeded && exceeded.starved;
}

/**
 * Another bound for all that follows on this thread: one on which nobody waits may give more, and need not try again.
 */
export function setBound(given: Bound): void {
  bound = given;
}

/**
 * Runs `work` and stops it after `ms` (default: the limit of the thread), whatever it is doing: a loop, a filter or a
 * regular expression. The template library's own limits count only operations it knows about; this limit measures
 * time from outside, by V8's interrupt. If other processes have the processor meanwhile, the work restarts until it
 * has had its time.
 * A call costs about 130 µs (V8 starts a watchdog thread), 30 times a whole message of plain variables. Callers use
 * it for compiling and for templates with loops or costly filters, not for templates that cannot take long.
 * Within bounded work only the outer limit applies: V8 has one interrupt per thread, and an inner call that meets the
 * interrupt of an outer one swallows it, or ends the process (a Node assertion).
 * @throws BoundExceeded
 */
export function runBounded<T>(work: () => T, ms = bound.ms): T {
  if (context.run) return work();
  const start = threadCpuMs();
  for (let attempt = 1; ; attempt++) {
    try {
      return once(work, ms);
    } catch (error) {
      if (!(error instanceof BoundExceeded)) throw error;
      const starved = threadCpuMs() - start < ms * 0.75;
      if (!starved || attempt >= bound.attempts)
        throw new BoundExceeded(error.message, { cause: error.cause, starved });
    }
  }
}

/** `displayErrors` off: marking the line of an error that the work throws is what Node's assertion fails in. */
function once<T>(work: () => T, ms: number): T {
  context.run = work;
  try {
    return call.runInContext(context, { timeout: ms, displayErrors: false }) as T;
  } catch (error) {
    if (isTimeout(error)) throw new BoundExceeded(`not done after ${ms} ms`, { cause: error });
    throw error;
  } finally {
    context.run = undefined;
  }
}

function isTimeout(error: unknown): boolean {
  // Not `instanceof Error`: it is an error of the script's own context.
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
