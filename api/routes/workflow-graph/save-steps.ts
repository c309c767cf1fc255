import { assertStepQuota } from '../../../db/records/quotas.ts';
import { deleteSteps, insertSteps, type StepToWrite, updateSteps } from '../../../db/workflows/graph-steps.ts';
import { findReferenceFaults } from '../../../db/workflows/step-references.ts';
import { maskStepConfig, sealStepConfig } from '../../../db/workflows/step-secrets.ts';
import type { Step } from '../../../db/workflows/workflows.ts';
import { changedFields, sameJson } from '../../../rules/as-code/changes.ts';
import { fieldError } from '../../../rules/errors.ts';
import type { StepConfig } from '../../../rules/executions/steps/definition.ts';
import type { OutboxRow } from '../../../rules/outbox.ts';
import { uuidv7 } from '../../../rules/uuid.ts';
import { refusePrivateUrl } from '../workflow-steps/private-urls.ts';
import { checkConfig } from '../workflow-steps/routes.ts';
import type { GraphStepInput } from './input.ts';
import { collectFaults, recordErrors, type Saving } from './saving.ts';

/** A new or changed step of the graph. */
interface CheckedStep {
  /** Path of the step in the request. */
  place: string;
  id: string;
  asked: GraphStepInput;
  /** Undefined for a new step. */
  stored: Step | undefined;
  /** Undefined if the stored config does not change. */
  config: StepConfig | undefined;
}

/** Deletes the steps that are not in the graph. */
export async function removeSteps(saving: Saving): Promise<OutboxRow[]> {
  const { trx, projectId, workflowId, graph, current, ids } = saving;
  const kept = new Set(graph.steps.map(({ id }) => id));
  const stepIds = current.steps.flatMap(({ id }) => (kept.has(id) ? [] : [id]));
  for (const id of stepIds) ids.delete(id);
  return deleteSteps(trx, { projectId, workflowId, stepIds, isRehearsal: graph.dryRun });
}

/**
 * Writes the new and changed steps of the graph, in a few statements for all steps. Records the errors of each step.
 */
export async function saveSteps(saving: Saving): Promise<void> {
  const { trx, projectId, workflowId, graph } = saving;
  const stored = new Map(saving.current.steps.map((step) => [step.id, step]));
  const checked = graph.steps.flatMap((asked) => {
    const place = `steps.${asked.id}`;
    return collectFaults(saving, place, () => checkStep(saving, { place, asked, stored: stored.get(asked.id) })) ?? [];
  });
  for (const { stored, asked, id } of checked) if (!stored) saving.ids.set(asked.id, id);
  await recordReferenceErrors(saving, checked);
  const written = checked.flatMap((step) => collectFaults(saving, step.place, () => writtenOf(saving, step)) ?? []);
  if (saving.refused.length > 0 || written.length === 0) return;
  await assertStepQuota(trx, { projectId, workflowId, written }).catch((error) =>
    recordErrors(saving, largest(checked), error),
  );
  const isNew = (step: StepToWrite) => !stored.has(step.id);
  await insertSteps(trx, { projectId, workflowId }, written.filter(isNew));
  await updateSteps(
    trx,
    { projectId, workflowId },
    written.filter((step) => !isNew(step)),
  );
}

function checkStep(
  { secretKey, allowPrivate }: Saving,
  { place, asked, stored }: { place: string; asked: GraphStepInput; stored: Step | undefined },
): CheckedStep[] {
  const { type, name, config, position } = asked;
  if (stored && stored.type !== type)
    throw fieldError('type', `A ${stored.type} step cannot change its type: add a new step.`);
  const shown = stored && maskStepConfig(secretKey, stored);
  const checked = shown && sameJson(config, shown) ? undefined : checkConfig(type, config, shown);
  if (checked) refusePrivateUrl(type, checked, { allowPrivate, stored: stored?.config });
  if (!stored) return [{ place, asked, stored, id: uuidv7(), config: checked }];
  const isChanged = checked !== undefined || changedFields({ name, position }, stored).length > 0;
  return isChanged ? [{ place, asked, stored, id: stored.id, config: checked }] : [];
}

/** Records invalid references in the written configs. An unchanged config was checked when it was written. */
async function recordReferenceErrors(saving: Saving, checked: CheckedStep[]): Promise<void> {
  const asked = checked.flatMap(({ place, asked: { type }, config }) => (config ? [{ place, type, config }] : []));
  const faults = await findReferenceFaults(saving.trx, { projectId: saving.projectId, steps: asked });
  for (const [index, fault] of faults.entries()) if (fault) recordErrors(saving, asked[index]?.place ?? '', fault);
}

/** Returns the place of the largest config. */
function largest(checked: CheckedStep[]): string {
  const sizeOf = ({ config }: CheckedStep) => JSON.stringify(config ?? null).length;
  return checked.reduce((most, step) => (sizeOf(step) > sizeOf(most) ? step : most)).place;
}

function writtenOf({ secretKey }: Saving, { id, asked, stored, config }: CheckedStep): StepToWrite {
  const { type, name = stored?.name ?? type, position } = asked;
  return {
    id,
    type,
    name,
    config: config ? sealStepConfig(secretKey, { id, type, config }, stored?.config) : (stored?.config ?? {}),
    position: position === undefined ? (stored?.position ?? null) : position,
  };
}
