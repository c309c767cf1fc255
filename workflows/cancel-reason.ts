import type { WorkflowInternalsInterceptor } from '@temporalio/workflow';

/** A code. The text of an operator who cancels in Temporal is not repeated, because it may name a person. */
const CODE = /^[a-z_]{1,60}$/;

/** The SDK gives each workflow modules of its own, so this is the reason of one run. */
let reason: string | null = null;

/** Keeps the reason of a request to cancel, because the SDK does not pass it on to the workflow. */
export const keepCancelReason: WorkflowInternalsInterceptor = {
  activate(input, next) {
    for (const { cancelWorkflow } of input.activation.jobs ?? [])
      if (cancelWorkflow?.reason && CODE.test(cancelWorkflow.reason)) reason = cancelWorkflow.reason;
    next(input);
  },
};

/** Returns the code with which this run was cancelled. Null if it was cancelled in Temporal, or by an earlier version. */
export function findCancelReason(): string | null {
  return reason;
}
