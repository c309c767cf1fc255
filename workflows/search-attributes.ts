import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { patched, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { Next } from '../rules/executions/execution.ts';
import { SET_BY_WORKFLOWS } from '../rules/search-attributes.ts';

const [STEP_ID, STEP_TYPE, OUTCOME] = [
  defineSearchAttributeKey(SET_BY_WORKFLOWS.stepId, SearchAttributeType.KEYWORD),
  defineSearchAttributeKey(SET_BY_WORKFLOWS.stepType, SearchAttributeType.KEYWORD),
  defineSearchAttributeKey(SET_BY_WORKFLOWS.outcome, SearchAttributeType.KEYWORD),
];
/** Temporal takes keywords of up to 255 bytes; a character has four at most. */
const OUTCOME_MAX_CHARS = 60;

/**
 * Makes the step at which a run waits searchable. Each update is a write to Temporal's visibility, so a run makes none
 * but when it waits: the attributes stay when it goes on, and a search asks for running ones.
 */
export function noteWait({ stepId, stepType }: Exclude<Next, { kind: 'end' }>): void {
  // Answers of earlier versions do not say. A run that was woken to look around waits on at the same step.
  if (stepId === undefined || stepType === undefined) return;
  if (workflowInfo().typedSearchAttributes.get(STEP_ID) === stepId || !patched('wait-attributes')) return;
  upsertSearchAttributes([
    { key: STEP_ID, value: stepId },
    { key: STEP_TYPE, value: stepType },
  ]);
}

/** Makes the reason of a run's end searchable. */
export function noteOutcome(reason: string): void {
  if (patched('outcome')) upsertSearchAttributes([{ key: OUTCOME, value: reason.slice(0, OUTCOME_MAX_CHARS) }]);
}
