import { readFileSync } from 'node:fs';
import { createContext, Script } from 'node:vm';

/** One attempt. Two of them stay within the 200 ms that a template may hold a process up for (decisions §4). */
const ATTEMPT_MS = 90;
/** On a machine that gives this thread no processor, waiting longer is no use. */
const MAX_ATTEMPTS = 4;

const context = createContext({ run: undefined });
const call = new Script('run()');

/** The work did not end within its bound. */
export class BoundExceeded extends Error {}

/**
 * Runs `work` and stops it after 180 ms of computing, whatever it is doing: a loop, a filter or a regular expression.
 * The limits of the template library count what it thinks of; this counts time from outside, by V8's own interrupt.
 * `work` may run again from its start: once more in any case, since a first run can fall into a collection of garbage
 * or a cold start, and then as long as the machine gives this thread no processor.
 *
 * It costs about 130 µs a call (V8 starts a watchdog thread), 30 times a whole message of plain variables, so callers
 * use it for compiling and for templates with loops or costly filters, not for those that cannot take long.
 * @throws BoundExceeded
 */
export function bounded<T>(work: () => T): T {
  let since: number | undefined;
  for (let attempt = 1; ; attempt++) {
    try {
      return once(work);
    } catch (error) {
      if (!(error instanceof BoundExceeded)) throw error;
      // Time on the processor decides, not on the clock: a template is not at fault when others have the machine.
      since ??= threadCpuMs();
      if (attempt > 1 && (threadCpuMs() - since >= ATTEMPT_MS * 0.9 || attempt === MAX_ATTEMPTS)) throw error;
    }
  }
}

function once<T>(work: () => T): T {
  const outer: unknown = context.run;
  context.run = work;
  try {
    return call.runInContext(context, { timeout: ATTEMPT_MS }) as T;
  } catch (error) {
    if (isTimeout(error)) throw new BoundExceeded(`not done after ${ATTEMPT_MS} ms`, { cause: error });
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
