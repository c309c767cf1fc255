import { proxySinks, type Sinks, workflowInfo } from '@temporalio/workflow';
import { type StartedWork, workOfCancellation, workOfSignal, workOfStart } from '../rules/executions/started-work.ts';

/**
 * Reports to the worker that Temporal has started work that the outbox handed over. A sink call is not a command, so it
 * adds no event to the history.
 */
export interface StartedWorkSinks extends Sinks {
  outbox: { noteStarted(begun: StartedWork): void };
}

const { outbox } = proxySinks<StartedWorkSinks>();

function report(begun: StartedWork | undefined): void {
  if (begun) outbox.noteStarted(begun);
}

/**
 * Reports a workflow's first task. From these reports the outbox counts the work that Temporal has not started yet, and
 * limits it for each project (db/outbox/outbox.ts).
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
