/** Search attributes that workflow code sets itself; the others are set at the start (`temporal/search-attributes.ts`). */
export const SET_BY_WORKFLOWS = {
  /** The step at which a run waits. */
  stepId: 'StepId',
  stepType: 'StepType',
  /** Why a run ended, if the reason says more than Temporal's status. */
  outcome: 'Outcome',
} as const;
