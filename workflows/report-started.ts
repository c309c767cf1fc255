import { proxySinks, type Sinks, workflowInfo } from '@temporalio/workflow';
import { type StartedWork, workOfCancellation, workOfSignal, workOfStart } from '../rules/executions/started-work.ts';

/**
 * Tells a worker that Temporal has started something that it was given. The call is no command, so it leaves no event
 * in the history.
 */
export interface StartedWorkSinks extends Sinks {
  outbox: { noteStarted(begun: StartedWork): void };
}

const { outbox } = proxySinks<StartedWorkSinks>();

function report(begun: StartedWork | undefined): void {
  if (begun) outbox.noteStarted(begun);
}

/**
 * Reports a workflow's first task. The outbox thereby knows how much Temporal has not started yet, and limits this
 * number for each project (db/outbox/outbox.ts).
 */
export function reportStart(): void {
  const { workflowId, continuedFromExecutionRunId } = workflowInfo();
  if (continuedFromExecutionRunId === undefined) report(workOfStart(workflowId));
}

/** Reports a signal that has reached its workflow. */
export function reportSignal(name: string, args: unknown[]): void {
  report(workOfSignal(workflowInfo().workflowId, name, args));
}

/** Reports a cancel that has ended its workflow. */
export function reportCancel(): void {
  report(workOfCancellation(workflowInfo().workflowId));
}
