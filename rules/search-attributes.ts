/**
 * Search attributes that workflow code sets while it runs. All other search attributes are set when a workflow starts
 * (`temporal/search-attributes.ts`).
 */
export const SET_BY_WORKFLOWS = {
  /** The id of the step at which an execution waits, or waited last. */
  stepId: 'StepId',
  stepType: 'StepType',
  /** Why an execution ended, if the reason says more than Temporal's status. */
  outcome: 'Outcome',
} as const;
