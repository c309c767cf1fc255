import { proxySinks, type Sinks, workflowInfo } from '@temporalio/workflow';
import { type Begun, cancelBegun, signalBegun, startBegun } from '../rules/executions/begun.ts';

/**
 * How a worker hears that Temporal has begun what it was given; the call is no command, so histories do not know of it.
 */
export interface BegunSinks extends Sinks {
  outbox: { begun(begun: Begun): void };
}

const { outbox } = proxySinks<BegunSinks>();

function tell(begun: Begun | undefined): void {
  if (begun) outbox.begun(begun);
}

/**
 * Tells of a workflow's first task. So the outbox knows how much Temporal has that it has not begun, and gives it no more
 * than it begins soon (worker/admission.ts).
 */
export function tellStart(): void {
  const { workflowId, continuedFromExecutionRunId } = workflowInfo();
  if (continuedFromExecutionRunId === undefined) tell(startBegun(workflowId));
}

/** Tells of a signal that has reached its workflow. */
export function tellSignal(name: string, args: unknown[]): void {
  tell(signalBegun(workflowInfo().workflowId, name, args));
}

/** Tells of a cancel that has ended its workflow. */
export function tellCancel(): void {
  tell(cancelBegun(workflowInfo().workflowId));
}
