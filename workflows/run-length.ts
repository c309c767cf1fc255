import { CancellationScope, isCancellation, patched, workflowInfo } from '@temporalio/workflow';

/**
 * A run with so many signals goes on in a new one. Far below the 4,096 events at which Temporal suggests it: a signal
 * that arrives while a run ends makes the worker replay the run, at 0.4 ms a signal, and more arrive meanwhile.
 */
const MANY_SIGNALS = 500;
/** Work under way is cut short, so that the run can end. */
const TOO_MANY_SIGNALS = 1_000;
/** The run ends now, whatever is under way. The other events of a run leave room up to 10,000. */
const MOST_SIGNALS = 2_000;

/** Decides when a run of a workflow ends and goes on in a new one, so that no history has 10,000 events. */
export class RunLength {
  private signals = 0;
  private cut: CancellationScope | undefined;

  /** Counts a signal. Cancels the work under way once there are too many. */
  countSignal(work?: CancellationScope): void {
    this.signals += 1;
    if (work && work !== this.cut && this.isLong()) {
      this.cut = work;
      work.cancel();
    }
  }

  /** Tells whether the run should go on in a new one. */
  shouldContinue(): boolean {
    return workflowInfo().continueAsNewSuggested || (this.signals >= MANY_SIGNALS && isBounded());
  }

  /** Tells the same to a workflow that waits. */
  shouldStopWaiting(): boolean {
    return (workflowInfo().continueAsNewSuggested || this.signals >= MANY_SIGNALS) && isBounded();
  }

  /** Tells whether work under way should be cut short. */
  isLong(): boolean {
    return this.signals >= TOO_MANY_SIGNALS && isBounded();
  }

  /** Tells whether the run has to end now. */
  isFull(): boolean {
    return this.signals >= MOST_SIGNALS && isBounded();
  }

  /** Tells whether an error is of work that this cut short, and not of a workflow that was cancelled. */
  hasCutShort(error: unknown): boolean {
    return this.cut !== undefined && isCancellation(error) && !CancellationScope.current().consideredCancelled;
  }
}

/** Tells whether a workflow that goes through pages should go on in a new run. */
export function shouldStopPaging(): boolean {
  return workflowInfo().continueAsNewSuggested && isBounded();
}

/**
 * False while a run replays that waited on under an earlier version. Called only where the answer matters, so ordinary
 * runs write no marker.
 */
function isBounded(): boolean {
  return patched('bounded-run');
}
