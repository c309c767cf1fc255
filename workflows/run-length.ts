import { patched, workflowInfo } from '@temporalio/workflow';

/**
 * Temporal suggests to continue as new at 4,096 events. Ordinary work under way then ends within some hundred more, so
 * beyond this only signals make the history grow.
 */
const LONG_EVENTS = 5_000;
/** Leaves room under 10,000 for the signals that arrive while the run ends. */
const FULL_EVENTS = 8_000;

/** Tells whether this run should end and go on in a new one. */
export function shouldContinueAsNew(): boolean {
  return workflowInfo().continueAsNewSuggested;
}

/**
 * Tells the same to a workflow that waits. A run that began under an earlier version and is replayed had waited on. No
 * marker is written before the suggestion, so ordinary runs cost nothing.
 */
export function shouldStopWaiting(): boolean {
  return shouldContinueAsNew() && patched('continue-while-waiting');
}

/** Tells whether work under way should be cut short, so that this run can end. */
export function isHistoryLong(): boolean {
  return workflowInfo().historyLength >= LONG_EVENTS && patched('cut-work-short');
}

/** Tells whether this run has to end now, whatever is under way. */
export function isHistoryFull(): boolean {
  return workflowInfo().historyLength >= FULL_EVENTS && patched('cut-work-short');
}
