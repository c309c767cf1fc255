import { assertStepQuota } from '../../../db/records/quotas.ts';
import { deleteSteps, insertSteps, type StepToWrite, updateSteps } from '../../../db/workflows/graph-steps.ts';
import { findReferenceErrors } from '../../../db/workflows/step-references.ts';
import { maskStepConfig, sealStepConfig } from '../../../db/workflows/step-secrets.ts';
import type { Step } from '../../../db/workflows/workflows.ts';
import { isSameJson, listChangedFields } from '../../../rules/as-code/changes.ts';
import { createFieldError } from '../../../rules/errors.ts';
import type { StepConfig } from '../../../rules/executions/steps/definition.ts';
import type { OutboxRow } from '../../../rules/outbox.ts';
import { uuidv7 } from '../../../rules/uuid.ts';
import { refusePrivateUrl } from '../workflow-steps/private-urls.ts';
import { checkConfig } from '../workflow-steps/routes.ts';
import type { GraphStepInput } from './input.ts';
import { collectErrors, type GraphSaveState, recordErrors } from './save-state.ts';

/** A new or changed step of the graph. */
interface CheckedStep {
  /** Path of the step in the request. */
  path: string;
  id: string;
  input: GraphStepInput;
  /** Undefined for a new step. */
  stored: Step | undefined;
  /** Undefined if the stored config does not change. */
  config: StepConfig | undefined;
}

/** Deletes the steps that are not in the graph. */
export async function removeSteps(saving: GraphSaveState): Promise<OutboxRow[]> {
  const { trx, projectId, workflowId, graph, current, ids } = saving;
  const keptIds = new Set(graph.steps.map(({ id }) => id));
  const stepIds = current.steps.flatMap(({ id }) => (keptIds.has(id) ? [] : [id]));
  for (const id of stepIds) ids.delete(id);
  return deleteSteps(trx, { projectId, workflowId, stepIds, isRehearsal: graph.dryRun });
}

/**
 * Writes the new and changed steps of the graph, in a few statements for all steps. Records the errors of each step.
 */
export async function saveSteps(saving: GraphSaveState): Promise<void> {
  const { trx, projectId, workflowId, graph } = saving;
  const stored = new Map(saving.current.steps.map((step) => [step.id, step]));
  const checkedSteps = graph.steps.flatMap((input) => {
    const path = `steps.${input.id}`;
    return collectErrors(saving, path, () => checkStep(saving, { path, input, stored: stored.get(input.id) })) ?? [];
  });
  for (const { stored, input, id } of checkedSteps) if (!stored) saving.ids.set(input.id, id);
  await recordReferenceErrors(saving, checkedSteps);
  const stepsToWrite = checkedSteps.flatMap(
    (step) => collectErrors(saving, step.path, () => buildStepToWrite(saving, step)) ?? [],
  );
  if (saving.refused.length > 0 || stepsToWrite.length === 0) return;
  await assertStepQuota(trx, { projectId, workflowId, written: stepsToWrite }).catch((error) =>
    recordErrors(saving, findPathOfLargestConfig(checkedSteps), error),
  );
  const isNew = (step: StepToWrite) => !stored.has(step.id);
  await insertSteps(trx, { projectId, workflowId }, stepsToWrite.filter(isNew));
  await updateSteps(
    trx,
    { projectId, workflowId },
    stepsToWrite.filter((step) => !isNew(step)),
  );
}

/**
 * Checks a step of the request. Returns it in a list, or an empty list if the step does not change.
 * @throws AppError VALIDATION_ERROR with field names of the step
 */
function checkStep(
  { secretKey, allowPrivate }: GraphSaveState,
  { path, input, stored }: { path: string; input: GraphStepInput; stored: Step | undefined },
): CheckedStep[] {
  const { type, name, config, position } = input;
  if (stored && stored.type !== type)
    throw createFieldError('type', `A ${stored.type} step cannot change its type: add a new step.`);
  const maskedConfig = stored && maskStepConfig(secretKey, stored);
  const checkedConfig =
    maskedConfig && isSameJson(config, maskedConfig) ? undefined : checkConfig(type, config, maskedConfig);
  if (checkedConfig) refusePrivateUrl(type, checkedConfig, { allowPrivate, stored: stored?.config });
  if (!stored) return [{ path, input, stored, id: uuidv7(), config: checkedConfig }];
  const isChanged = checkedConfig !== undefined || listChangedFields({ name, position }, stored).length > 0;
  return isChanged ? [{ path, input, stored, id: stored.id, config: checkedConfig }] : [];
}

/**
 * Records errors for new and changed configs that refer to records that do not exist. Unchanged configs were checked
 * when they were saved.
 */
async function recordReferenceErrors(saving: GraphSaveState, checkedSteps: CheckedStep[]): Promise<void> {
  const configs = checkedSteps.flatMap(({ path, input: { type }, config }) => (config ? [{ path, type, config }] : []));
  const faults = await findReferenceErrors(saving.trx, { projectId: saving.projectId, steps: configs });
  for (const [index, fault] of faults.entries()) if (fault) recordErrors(saving, configs[index]?.path ?? '', fault);
}

/** Returns the path of the step with the largest config. */
function findPathOfLargestConfig(checkedSteps: CheckedStep[]): string {
  const measureConfig = ({ config }: CheckedStep) => JSON.stringify(config ?? null).length;
  return checkedSteps.reduce((most, step) => (measureConfig(step) > measureConfig(most) ? step : most)).path;
}

function buildStepToWrite({ secretKey }: GraphSaveState, { id, input, stored, config }: CheckedStep): StepToWrite {
  const { type, name = stored?.name ?? type, position } = input;
  return {
    id,
    type,
    name,
    config: config ? sealStepConfig(secretKey, { id, type, config }, stored?.config) : (stored?.config ?? {}),
    position: position === undefined ? (stored?.position ?? null) : position,
  };
}
