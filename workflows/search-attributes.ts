import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { patched, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { Next } from '../rules/executions/execution.ts';
import { SET_BY_WORKFLOWS } from '../rules/search-attributes.ts';

const [STEP_ID, STEP_TYPE, OUTCOME] = [
  defineSearchAttributeKey(SET_BY_WORKFLOWS.stepId, SearchAttributeType.KEYWORD),
  defineSearchAttributeKey(SET_BY_WORKFLOWS.stepType, SearchAttributeType.KEYWORD),
  defineSearchAttributeKey(SET_BY_WORKFLOWS.outcome, SearchAttributeType.KEYWORD),
];
/**
 * The maximum length of an outcome. Temporal accepts keywords of up to 255 bytes, and a character has at most four
 * bytes.
 */
const OUTCOME_MAX_CHARS = 60;

/**
 * Makes the step at which an execution waits searchable in Temporal. Each update is a write to Temporal's visibility
 * store, so steps without a wait do not update it. The attributes keep their values after the wait, so a search must
 * also filter for running workflows.
 */
export function setWaitAttributes({ stepId, stepType }: Exclude<Next, { kind: 'end' }>): void {
  // Activities of earlier releases did not return the step. Without a known step, there is nothing to store.
  // If an execution waits at the same step again, for example after a check, its attributes need no update.
  if (stepId === undefined || stepType === undefined) return;
  if (workflowInfo().typedSearchAttributes.get(STEP_ID) === stepId || !patched('wait-attributes')) return;
  upsertSearchAttributes([
    { key: STEP_ID, value: stepId },
    { key: STEP_TYPE, value: stepType },
  ]);
}

/** Makes the reason of a run's end searchable. */
export function setOutcomeAttribute(reason: string): void {
  if (patched('outcome')) upsertSearchAttributes([{ key: OUTCOME, value: reason.slice(0, OUTCOME_MAX_CHARS) }]);
}
