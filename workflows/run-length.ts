import { CancellationScope, isCancellation, patched, workflowInfo } from '@temporalio/workflow';

/**
 * A run with this many signals continues in a new one. Far below the 4,096 events at which Temporal suggests it: a
 * signal that arrives while a run ends makes the worker replay the run, at about 1 ms of CPU time for each signal. The
 * SDK fails a workflow task after 5 seconds, and more signals arrive meanwhile.
 */
const MANY_SIGNALS = 100;
/**
 * The same limit in runs that started before it was lowered. On a busy machine, replaying such a run took more than 5
 * seconds.
 */
const MANY_SIGNALS_BEFORE = 500;
/** At this number of signals, running work is cancelled so that the run can end. */
const TOO_MANY_SIGNALS = 1_000;
/**
 * At this number of signals, the run ends even if work is running. With the other events of the run, its history then
 * stays well below the limit of 10,000 events.
 */
const MOST_SIGNALS = 2_000;

/** Decides when a run of a workflow ends and continues in a new one, so that no history has 10,000 events. */
export class RunLength {
  private signals = 0;
  private cut: CancellationScope | undefined;

  /** Counts a signal. Cancels `work` when there are too many signals. */
  countSignal(work?: CancellationScope): void {
    this.signals += 1;
    if (work && work !== this.cut && this.isLong()) {
      this.cut = work;
      work.cancel();
    }
  }

  /** Tells whether the workflow should continue in a new run. */
  shouldContinue(): boolean {
    return workflowInfo().continueAsNewSuggested || (this.hasMany() && isSignalLimitActive());
  }

  /** Tells whether a waiting workflow should continue in a new run. */
  shouldStopWaiting(): boolean {
    return (workflowInfo().continueAsNewSuggested || this.hasMany()) && isSignalLimitActive();
  }

  private hasMany(): boolean {
    return this.signals >= MANY_SIGNALS_BEFORE || (this.signals >= MANY_SIGNALS && patched('short-run'));
  }

  /** Tells whether running work should be cancelled. */
  isLong(): boolean {
    return this.signals >= TOO_MANY_SIGNALS && isSignalLimitActive();
  }

  /** Tells whether the run has to end now. */
  isFull(): boolean {
    return this.signals >= MOST_SIGNALS && isSignalLimitActive();
  }

  /** Tells whether an error comes from work that `countSignal` cancelled, and not from a cancelled workflow. */
  hasCutShort(error: unknown): boolean {
    return this.cut !== undefined && isCancellation(error) && !CancellationScope.current().consideredCancelled;
  }
}

/** Tells whether a workflow that goes through pages should continue in a new run. */
export function shouldStopPaging(): boolean {
  return workflowInfo().continueAsNewSuggested && isSignalLimitActive();
}

/**
 * Tells whether the limit of signals applies. False while a run that waited under an earlier version is replayed. Call
 * this only when the result matters, because the call writes a marker to the history.
 */
function isSignalLimitActive(): boolean {
  return patched('bounded-run');
}
