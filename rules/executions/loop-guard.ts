/**
 * The loop guard. An execution whose workflow has a cycle may reach a step repeatedly, and send something each time.
 * Two limits slow it down: between two visits to a step the execution must wait for a minute in total, and it may visit
 * a limited number of steps.
 */

/** Minimum waiting per cycle, by DELAY and WAIT_FOR_EVENT. A cycle that waits exactly this long is allowed. */
export const MIN_CYCLE_WAIT_MS = 60_000;
/** Maximum number of visits of an execution. At one cycle a day, a cycle of three steps runs for a year. */
export const MAX_VISITS = 1_000;
/** The error of an execution that repeated a step too soon or visited too many steps. */
export const LOOP = 'loop';

/** The stored waiting time of an execution with a cycle. */
export interface LoopGuard {
  /** The total length of all ended pauses. */
  waitedMs: number;
  /** Length of its current pause. Absent for a wait without a deadline. */
  pauseMs?: number;
  /** The value of `waitedMs` at the last visit to each step, by the step's id. */
  comings: Record<string, number>;
}

/** Creates the loop guard of an execution that has not waited yet. */
export function newLoopGuard(): LoopGuard {
  return { waitedMs: 0, comings: {} };
}

/** Records a visit to a step. @returns whether it is too soon after the last visit */
export function countVisit(guard: LoopGuard, stepId: string): boolean {
  const before = guard.comings[stepId];
  guard.comings[stepId] = guard.waitedMs;
  return before !== undefined && guard.waitedMs - before < MIN_CYCLE_WAIT_MS;
}

/** Records the start of a pause. `ms` is the length of the pause; undefined if only an event ends the pause. */
export function notePauseBegun(guard: LoopGuard, ms: number | undefined): void {
  if (ms === undefined) delete guard.pauseMs;
  else guard.pauseMs = ms;
}

/**
 * Records the end of a pause. A timer counts with its planned length, because the times of different machines may
 * differ. A wait that an event ended counts with the time that it took.
 */
export function notePauseEnded(guard: LoopGuard, p: { byEvent: boolean; tookMs: number }): void {
  const { pauseMs = p.tookMs } = guard;
  guard.waitedMs += Math.max(0, p.byEvent ? Math.min(p.tookMs, pauseMs) : pauseMs);
  delete guard.pauseMs;
}
