/**
 * The loop guard. An execution whose workflow has a cycle may reach a step repeatedly, and send something each time.
 * Two limits keep that from running at full speed: between two visits to a step the execution has waited for a minute
 * in total, and it visits a limited number of steps.
 */

/** Minimum waiting per cycle, by DELAY and WAIT_FOR_EVENT. Exactly this much is enough. */
export const MIN_CYCLE_WAIT_MS = 60_000;
/** Total visits of an execution. At one cycle a day, a cycle of three steps runs for a year. */
export const MAX_VISITS = 1_000;
/** The error of an execution that has come round too soon, or too far. */
export const LOOP = 'loop';

/** Waiting time of an execution with a cycle, as it is stored. */
export interface LoopGuard {
  /** Waited so far, in all pauses that are over. */
  waitedMs: number;
  /** Length of its current pause. Absent for a wait without a deadline. */
  pauseMs?: number;
  /** `waitedMs` when it came to a step last, by the step's id. */
  comings: Record<string, number>;
}

/** An execution that has waited for nothing yet. */
export function newLoopGuard(): LoopGuard {
  return { waitedMs: 0, comings: {} };
}

/** Notes that the execution comes to a step. @returns whether it does so too soon after the last time */
export function countVisit(laps: LoopGuard, stepId: string): boolean {
  const before = laps.comings[stepId];
  laps.comings[stepId] = laps.waitedMs;
  return before !== undefined && laps.waitedMs - before < MIN_CYCLE_WAIT_MS;
}

/** Records the start of a pause. `ms` is its length, absent if only an event ends it. */
export function notePauseBegun(laps: LoopGuard, ms: number | undefined): void {
  if (ms === undefined) delete laps.pauseMs;
  else laps.pauseMs = ms;
}

/**
 * Records the end of a pause. A timer counts with the length it was set to, whatever the machines' times of its start
 * and end. A wait that an event ended counts with the time it took.
 */
export function notePauseEnded(laps: LoopGuard, p: { byEvent: boolean; tookMs: number }): void {
  const { pauseMs = p.tookMs } = laps;
  laps.waitedMs += Math.max(0, p.byEvent ? Math.min(p.tookMs, pauseMs) : pauseMs);
  delete laps.pauseMs;
}
