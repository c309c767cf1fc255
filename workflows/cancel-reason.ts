import type { WorkflowInternalsInterceptor } from '@temporalio/workflow';

/**
 * Matches a code. Other reasons are texts that an operator wrote in Temporal. They are not repeated, because they may
 * name a person.
 */
const CODE = /^[a-z_]{1,60}$/;

/**
 * The reason of this run. The SDK loads the modules separately for each workflow, so runs do not share this variable.
 */
let reason: string | null = null;

/** Stores the reason of a request to cancel, because the SDK does not pass the reason to the workflow. */
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
