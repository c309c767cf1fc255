import { createContext, Script } from 'node:vm';

/** What one template may take of a process (decisions §4 allows 200 ms), with room for the timer's own delay. */
export const BOUND_MS = 150;

const context = createContext({ run: undefined });
const call = new Script('run()');

/** The work did not end within its bound. */
export class BoundExceeded extends Error {}

/**
 * Runs `work` and stops it after `BOUND_MS`, whatever it is doing: a loop, a filter or a regular expression. The limits
 * of the template library count what it thinks of; this one counts time from outside, by V8's own interrupt.
 *
 * It costs about 130 µs a call (V8 starts a watchdog thread), 30 times a whole message of plain variables, so callers
 * use it for compiling and for templates with loops or costly filters, not for those that cannot take long.
 * A machine that gave the process no time is not the template's fault: then the work is tried once more.
 * @throws BoundExceeded
 */
export function bounded<T>(work: () => T): T {
  const before = process.cpuUsage();
  try {
    return once(work);
  } catch (error) {
    if (!(error instanceof BoundExceeded) || wasBusy(before)) throw error;
    return once(work);
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

/** Whether the process computed for at least half of the bound; all its threads count, so the error is to the strict side. */
function wasBusy(before: NodeJS.CpuUsage): boolean {
  const used = process.cpuUsage(before);
  return (used.user + used.system) / 1000 >= BOUND_MS / 2;
}

function isTimeout(error: unknown): boolean {
  // Not `instanceof Error`: it is an error of the script's own context.
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
