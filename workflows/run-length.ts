import { CancellationScope, isCancellation, patched, workflowInfo } from '@temporalio/workflow';

/**
 * After this many signals, a workflow continues as a new run. The number is far below the 4,096 events at which
 * Temporal suggests a new run. A signal that arrives while a run is ending makes the worker replay the run, which takes
 * about 1 ms of CPU time for each signal of the run. The replay must be fast, because Temporal starts the workflow
 * task again after 10 seconds, and more signals arrive in the meantime.
 */
const NEW_RUN_SIGNALS = 100;
/**
 * The value of `NEW_RUN_SIGNALS` in earlier releases, for runs that started then. On a busy machine, replaying a run
 * with 500 signals took more than 5 seconds.
 */
const EARLIER_NEW_RUN_SIGNALS = 500;
/** After this many signals, running work is cancelled, so that the run can end. */
const CANCEL_WORK_SIGNALS = 1_000;
/**
 * After this many signals, the run ends even if work is still running. Together with its other events, the run's
 * history then stays well below the limit of 10,000 events.
 */
const END_RUN_SIGNALS = 2_000;

/** Decides when a run of a workflow ends and a new run continues, so that no history reaches 10,000 events. */
export class RunLength {
  private signals = 0;
  private cancelledWork: CancellationScope | undefined;

  /** Counts a signal. Cancels `work` when there are too many signals. */
  countSignal(work?: CancellationScope): void {
    this.signals += 1;
    if (work && work !== this.cancelledWork && this.isTooLong()) {
      this.cancelledWork = work;
      work.cancel();
    }
  }

  /** Tells whether the workflow should continue in a new run. */
  shouldStartNewRun(): boolean {
    return workflowInfo().continueAsNewSuggested || (this.hasManySignals() && isSignalLimitActive());
  }

  /**
   * Tells whether a waiting workflow should continue in a new run. False in the replay of a run of an earlier release,
   * which continued to wait.
   */
  shouldStartNewRunWhileWaiting(): boolean {
    return (workflowInfo().continueAsNewSuggested || this.hasManySignals()) && isSignalLimitActive();
  }

  private hasManySignals(): boolean {
    return this.signals >= EARLIER_NEW_RUN_SIGNALS || (this.signals >= NEW_RUN_SIGNALS && patched('short-run'));
  }

  /** Tells whether running work should be cancelled. */
  isTooLong(): boolean {
    return this.signals >= CANCEL_WORK_SIGNALS && isSignalLimitActive();
  }

  /** Tells whether the run has to end now. */
  mustEnd(): boolean {
    return this.signals >= END_RUN_SIGNALS && isSignalLimitActive();
  }

  /**
   * Tells whether an error occurred because `countSignal` cancelled the work, and not because the workflow was
   * cancelled.
   */
  isFromSignalLimit(error: unknown): boolean {
    return (
      this.cancelledWork !== undefined && isCancellation(error) && !CancellationScope.current().consideredCancelled
    );
  }
}

/** Tells whether a workflow that processes page after page should continue in a new run. */
export function shouldStartNewRunWhilePaging(): boolean {
  return workflowInfo().continueAsNewSuggested && isSignalLimitActive();
}

/**
 * Tells whether the limits of signals apply to this run, and whether the workflow may continue in a new run while it
 * waits. Returns false in the replay of a run that an earlier release processed without these rules. Call this function
 * only when its result matters, because the call adds a marker to the history.
 */
function isSignalLimitActive(): boolean {
  return patched('bounded-run');
}
