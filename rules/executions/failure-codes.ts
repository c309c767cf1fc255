/**
 * Why an execution is FAILED. The code is the `exitReason` of the execution in the API, and the type of the failure
 * with which its workflow ends in Temporal. A sentence for users is in `error`, which is never sent to Temporal.
 */
export const FAILURE_CODES = [
  /** The execution repeated a step too soon or too often. */
  'loop',
  /** The configuration of a step is invalid, so the step cannot run. */
  'invalid_step',
  /** The endpoint of a WEBHOOK with `onFailure: FAIL` did not accept the request. */
  'webhook_failed',
  /** The workflow failed in Temporal. The workflow's history in Temporal has the reason. */
  'temporal_failed',
  /** The workflow timed out in Temporal. */
  'temporal_timed_out',
] as const;

export type FailureCode = (typeof FAILURE_CODES)[number];
