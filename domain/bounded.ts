import { readFileSync } from 'node:fs';
import { createContext, Script } from 'node:vm';

/** A template may hold a process up for 200 ms (decisions §4); the rest is for stopping it. */
const BOUND_MS = 180;
/** How often work is tried on a machine that gives this thread no processor: a fourth time would hardly end better. */
const MAX_ATTEMPTS = 3;

const context = createContext({ run: undefined });
const call = new Script('run()');

/** The work did not end within its bound. */
export class BoundExceeded extends Error {}

/**
 * Runs `work` and stops it after `BOUND_MS`, whatever it is doing: a loop, a filter or a regular expression. The limits
 * of the template library count what it thinks of; this counts time from outside, by V8's own interrupt. Where others
 * have the processor meanwhile, work is not at fault: it runs again from its start, until it has had its time.
 *
 * It costs about 130 µs a call (V8 starts a watchdog thread), 30 times a whole message of plain variables, so callers
 * use it for compiling and for templates with loops or costly filters, not for those that cannot take long.
 * @throws BoundExceeded
 */
export function bounded<T>(work: () => T): T {
  const start = threadCpuMs();
  for (let attempt = 1; ; attempt++) {
    try {
      return once(work);
    } catch (error) {
      const hadItsTime = attempt === MAX_ATTEMPTS || threadCpuMs() - start >= BOUND_MS * 0.75;
      if (!(error instanceof BoundExceeded) || hadItsTime) throw error;
    }
  }
}

function once<T>(work: () => T): T {
  const outer: unknown = context.run;
  context.run = work;
  try {
    return call.runInContext(context, { timeout: BOUND_MS }) as T;
  } catch (error) {
    if (isTimeout(error)) throw new BoundExceeded(`not done after ${BOUND_MS} ms`, { cause: error });
    throw error;
  } finally {
    context.run = outer;
  }
}

function isTimeout(error: unknown): boolean {
  // Not `instanceof Error`: it is an error of the script's own context.
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}

/** What this thread has computed so far; where Linux does not say it, all threads together, which is never less. */
function threadCpuMs(): number {
  try {
    const nanoseconds = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0];
    return Number(nanoseconds) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}
