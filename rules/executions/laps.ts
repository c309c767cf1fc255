/**
 * An execution whose workflow leads in a circle may come to a step again and again, and each time it may send
 * something. What keeps that from running at the machine's speed: between two comings to a step it has waited for a
 * minute in all, and it visits only so many steps.
 */

/** A lap takes this much waiting, by DELAY and WAIT_FOR_EVENT; exactly as much is enough. */
export const LAP_MS = 60_000;
/** Steps that an execution comes to in all: at a lap a day, a circle of three steps runs for a year. */
export const MAX_VISITS = 1_000;
/** The error of an execution that has come round too soon, or too far. */
export const LOOP = 'loop';

/** What an execution that can run in a circle has waited, as it is stored. */
export interface Laps {
  /** Waited so far, in all pauses that are over. */
  waitedMs: number;
  /** Length of the pause it stands in; absent for a wait without a deadline. */
  pauseMs?: number;
  /** `waitedMs` when it came to a step last, by the step's id. */
  comings: Record<string, number>;
}

/** An execution that has waited for nothing yet. */
export function newLaps(): Laps {
  return { waitedMs: 0, comings: {} };
}

/** Notes that the execution comes to a step. @returns whether it does so too soon after the last time */
export function countVisit(laps: Laps, stepId: string): boolean {
  const before = laps.comings[stepId];
  laps.comings[stepId] = laps.waitedMs;
  return before !== undefined && laps.waitedMs - before < LAP_MS;
}

/** Notes that a pause begins; `ms` is its length, absent where only an event ends it. */
export function notePauseBegun(laps: Laps, ms: number | undefined): void {
  if (ms === undefined) delete laps.pauseMs;
  else laps.pauseMs = ms;
}

/**
 * Notes that a pause is over. A timer that ran out counts with the length it was set to, whatever the clocks of the
 * machines say of its start and end; a wait that an event ended counts with the time it took.
 */
export function notePauseEnded(laps: Laps, p: { byEvent: boolean; tookMs: number }): void {
  const { pauseMs = p.tookMs } = laps;
  laps.waitedMs += Math.max(0, p.byEvent ? Math.min(p.tookMs, pauseMs) : pauseMs);
  delete laps.pauseMs;
}
