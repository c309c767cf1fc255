/**
 * Why an execution FAILED. The code is the `exitReason` of the execution in the API and the type of the failure with
 * which its workflow ends in Temporal. The sentence for people is in `error`, which never reaches Temporal.
 */
export const FAILURE_CODES = [
  /** The execution repeated a step too soon or too often. */
  'loop',
  /** A step cannot run with its configuration. */
  'invalid_step',
  /** The endpoint of a WEBHOOK with `onFailure: FAIL` did not accept the request. */
  'webhook_failed',
  /** The workflow failed in Temporal; its history there says why. */
  'temporal_failed',
  /** The workflow timed out in Temporal. */
  'temporal_timed_out',
] as const;

export type FailureCode = (typeof FAILURE_CODES)[number];
