import { isCancellation, type WorkflowInboundCallsInterceptor, type WorkflowInterceptors } from '@temporalio/workflow';
import { keepCancelReason } from './cancel-reason.ts';
import { reportFailure, reportResult } from './end.ts';
import { reportCancelToOutbox, reportSignalToOutbox, reportStartToOutbox } from './report-started.ts';

/**
 * Reports to the worker how each workflow starts and ends. The same interceptor reports starts and ends, and its signal
 * handler is not async, to save promises. The SDK takes a stack trace for each promise of a workflow, which took a
 * quarter of the workflow thread's time.
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
