import type { WorkflowInternalsInterceptor } from '@temporalio/workflow';

/**
 * The codes with which this service cancels workflows (docs/operate/temporal.md). An operator who cancels a workflow in
 * Temporal may write a text instead. The service does not store or show such a text, because it may name a person.
 */
const CODES: ReadonlySet<string> = new Set([
  'cancelled',
  'contact_deleted',
  'campaign_draft',
  'campaign_deleted',
  'recovery',
]);

/**
 * The code with which this run was cancelled. It is a property of globalThis, because runs share the variables of
 * modules (`preloadModules` in build/build.mjs). The SDK gives each run its own properties of globalThis.
 */
const run = globalThis as { cancelReason?: string };

/**
 * Reads the reason of a request to cancel from the workflow task, because the SDK does not pass the reason to the
 * workflow.
 */
export const keepCancelReason: WorkflowInternalsInterceptor = {
  activate(input, next) {
    for (const { cancelWorkflow } of input.activation.jobs ?? [])
      if (cancelWorkflow?.reason && CODES.has(cancelWorkflow.reason)) run.cancelReason = cancelWorkflow.reason;
    next(input);
  },
};

/**
 * Returns the code with which this run was cancelled. Null if the request to cancel had no code, such as a request from
 * an earlier release.
 */
export function findCancelReason(): string | null {
  return run.cancelReason ?? null;
}
