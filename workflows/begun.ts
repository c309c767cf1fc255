import {
  isCancellation,
  proxySinks,
  type Sinks,
  type WorkflowInboundCallsInterceptor,
  workflowInfo,
} from '@temporalio/workflow';
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
 * Tells of each workflow's first task, and of each signal and cancel that reaches it. So the outbox knows how much
 * Temporal has that it has not begun, and gives it no more than it begins soon (worker/admission.ts).
 */
export const tellBegun = (): WorkflowInboundCallsInterceptor => ({
  async execute(input, next) {
    const { workflowId, continuedFromExecutionRunId } = workflowInfo();
    if (continuedFromExecutionRunId === undefined) tell(startBegun(workflowId));
    try {
      return await next(input);
    } catch (error) {
      if (isCancellation(error)) tell(cancelBegun(workflowId));
      throw error;
    }
  },
  // Not an async function: each promise in a workflow costs the SDK a stack trace, and signals come by the thousand.
  handleSignal(input, next) {
    tell(signalBegun(workflowInfo().workflowId, input.signalName, input.args));
    return next(input);
  },
});
