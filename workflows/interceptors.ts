import { isCancellation, type WorkflowInboundCallsInterceptor, type WorkflowInterceptors } from '@temporalio/workflow';
import { keepCancelReason } from './cancel-reason.ts';
import { reportFailure, reportResult } from './report-end.ts';
import { reportCancelToOutbox, reportSignalToOutbox, reportStartToOutbox } from './report-started.ts';

/**
 * Reports to the worker that a workflow has started, has got a signal, or has ended. One interceptor makes all these
 * reports, and its signal handler is not async, because each promise of a workflow is expensive: the SDK takes a stack
 * trace for it. These stack traces took a quarter of the workflow thread's time.
 */
const lifecycle: WorkflowInboundCallsInterceptor = {
  async execute(input, next) {
    reportStartToOutbox();
    try {
      const result = await next(input);
      reportResult(input.args[0], result);
      return result;
    } catch (error) {
      reportFailure(input.args[0], error);
      if (isCancellation(error)) reportCancelToOutbox();
      throw error;
    }
  },
  handleSignal(input, next) {
    reportSignalToOutbox(input.signalName, input.args);
    return next(input);
  },
};

/** Creates the interceptors of every workflow. The options of the worker's bundle contain the path of this file. */
export const interceptors = (): WorkflowInterceptors => ({ inbound: [lifecycle], internals: [keepCancelReason] });
