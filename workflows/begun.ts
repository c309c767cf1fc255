import { proxySinks, type Sinks, workflowInfo } from '@temporalio/workflow';
import { type Begun, cancelBegun, signalBegun, startBegun } from '../rules/executions/begun.ts';

/**
 * Tells a worker that Temporal has started something that it was given. The call is no command, so it leaves no event
 * in the history.
 */
export interface BegunSinks extends Sinks {
  outbox: { begun(begun: Begun): void };
}

const { outbox } = proxySinks<BegunSinks>();

function tell(begun: Begun | undefined): void {
  if (begun) outbox.begun(begun);
}

/**
 * Reports a workflow's first task. The outbox thereby knows how much Temporal has not started yet, and hands over no
 * more than Temporal starts soon (worker/admission.ts).
 */
export function tellStart(): void {
  const { workflowId, continuedFromExecutionRunId } = workflowInfo();
  if (continuedFromExecutionRunId === undefined) tell(startBegun(workflowId));
}

/** Reports a signal that has reached its workflow. */
export function tellSignal(name: string, args: unknown[]): void {
  tell(signalBegun(workflowInfo().workflowId, name, args));
}

/** Reports a cancel that has ended its workflow. */
export function tellCancel(): void {
  tell(cancelBegun(workflowInfo().workflowId));
}
