import { proxySinks, type Sinks, workflowInfo } from '@temporalio/workflow';
import {
  findCancellationWork,
  findSignaledWork,
  findStartedWork,
  type StartedWork,
} from '../rules/executions/started-work.ts';

/**
 * Reports to the worker that Temporal has started work that the outbox handed over. A sink call is not a command, so it
 * adds no event to the history.
 */
export interface StartedWorkSinks extends Sinks {
  outbox: { noteStarted(started: StartedWork): void };
}

const { outbox } = proxySinks<StartedWorkSinks>();

function report(started: StartedWork | undefined): void {
  if (started) outbox.noteStarted(started);
}

/**
 * Reports that this workflow has started, unless it continues an earlier run. From these reports the outbox knows how
 * much of a project's work Temporal has accepted but not started yet, and limits this work for each project
 * (worker/outbox-dispatcher.ts).
 */
export function reportStartToOutbox(): void {
  const { workflowId, continuedFromExecutionRunId } = workflowInfo();
  if (continuedFromExecutionRunId === undefined) report(findStartedWork(workflowId));
}

/** Reports that a signal has reached this workflow. */
export function reportSignalToOutbox(name: string, args: unknown[]): void {
  report(findSignaledWork(workflowInfo().workflowId, name, args));
}

/** Reports that a request to cancel this workflow has ended it. */
export function reportCancelToOutbox(): void {
  report(findCancellationWork(workflowInfo().workflowId));
}
