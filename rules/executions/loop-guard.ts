/**
 * The loop guard. If a workflow has a cycle, an execution may reach a step repeatedly, and send an email each time. Two
 * limits apply: between two visits to the same step, the execution must have waited for at least one minute in total,
 * and its number of visits is limited.
 */

/**
 * The minimum time that an execution must wait in a cycle, in DELAY and WAIT_FOR_EVENT steps. A cycle that waits
 * exactly this time is allowed.
 */
export const MIN_CYCLE_WAIT_MS = 60_000;
/**
 * The maximum number of visits of an execution. With one cycle per day, a cycle of three steps can run for almost a
 * year.
 */
export const MAX_VISITS = 1_000;
/** The failure code of an execution that repeated a step too soon, or had too many visits. */
export const LOOP_CODE = 'loop';

/** The waiting times of an execution whose workflow has a cycle. The waiting times are stored with the execution. */
export interface LoopGuard {
  /** The total length of all ended pauses. */
  waitedMs: number;
  /** The planned length of the current pause. Absent for a wait without a deadline. */
  pauseMs?: number;
  /** The value of `waitedMs` at the last visit to each step, by the step's id. */
  comings: Record<string, number>;
}

/** Creates the loop guard of an execution that has not waited yet. */
export function createLoopGuard(): LoopGuard {
  return { waitedMs: 0, comings: {} };
}

/** Records a visit to a step. @returns true if the visit is too soon after the last visit to this step */
export function recordVisit(guard: LoopGuard, stepId: string): boolean {
  const before = guard.comings[stepId];
  guard.comings[stepId] = guard.waitedMs;
  return before !== undefined && guard.waitedMs - before < MIN_CYCLE_WAIT_MS;
}

/**
 * Records the start of a pause. `ms` is the planned length of the pause; it is undefined if only an event ends the
 * pause.
 */
export function recordPauseStart(guard: LoopGuard, ms: number | undefined): void {
  if (ms === undefined) delete guard.pauseMs;
  else guard.pauseMs = ms;
}

/**
 * Records the end of a pause. A pause that a timer ended counts with its planned length, because two machines may
 * measure a different length. A pause that an event ended counts with the time that it actually took.
 */
export function recordPauseEnd(guard: LoopGuard, p: { byEvent: boolean; tookMs: number }): void {
  const { pauseMs = p.tookMs } = guard;
  guard.waitedMs += Math.max(0, p.byEvent ? Math.min(p.tookMs, pauseMs) : pauseMs);
  delete guard.pauseMs;
}
