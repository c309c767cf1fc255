import { sql } from 'kysely';
import { AppError, createFieldError } from '../../rules/errors.ts';
import type { Branch, StepConfig } from '../../rules/executions/steps/definition.ts';
import { STEPS, type StepType } from '../../rules/executions/steps/registry.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { ReadVersion } from '../../rules/record-version.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import type { Db, Trx } from '../connection.ts';
import { assertStepQuota } from '../records/quotas.ts';
import { nextVersionSql } from '../records/record-version.ts';
import { chooseFreeSlug, refuseTakenSlug } from '../records/slugs.ts';
import { deleteSteps } from './graph-steps.ts';
import { findReferenceErrors, getTemplateId } from './step-references.ts';
import { sealStepConfig } from './step-secrets.ts';
import {
  getWorkflow,
  lockWorkflow,
  lockWorkflowForEdit,
  STEP_COLUMNS,
  type Step,
  TRANSITION_COLUMNS,
  type Transition,
  toStep,
  toTransition,
} from './workflows.ts';

/**
 * The version of the workflow that the caller has read. If the version is absent, the change is made whatever the
 * current version is.
 */
interface WithReadVersion {
  read?: ReadVersion | undefined;
}

export interface StepRef {
  projectId: string;
  workflowId: string;
  stepId: string;
}

export interface NewStep extends WithReadVersion {
  projectId: string;
  workflowId: string;
  type: StepType;
  name: string;
  /** If omitted, the slug is derived from the name. */
  slug?: string | undefined;
  config: StepConfig;
  position: { x: number; y: number } | null;
  autoConnect: boolean;
  secretKey: string;
}

/**
 * Adds a step. The first step of a workflow becomes its entry step. With `autoConnect`, adds a transition to the new
 * step from the last step that has a free branch (`connectToLast`).
 * @throws AppError NOT_FOUND, CONFLICT when the workflow has reached its limit of steps, VALIDATION_ERROR for an
 * unknown id in the config, DOMAIN_NOT_VERIFIED for the sender
 */
export async function insertStep(trx: Trx, p: NewStep): Promise<Step> {
  await lockForEdit(trx, p);
  const id = uuidv7();
  await assertStepQuota(trx, { ...p, written: [{ id, config: p.config }] });
  await checkReferences(trx, { projectId: p.projectId, step: p });
  const slug = p.slug ?? (await chooseFreeSlug(trx, { table: 'workflow_steps', within: p.workflowId, name: p.name }));
  const inserted = trx
    .insertInto('workflow_steps')
    .values({
      id,
      project_id: p.projectId,
      workflow_id: p.workflowId,
      type: p.type,
      name: p.name,
      slug,
      config: JSON.stringify(sealStepConfig(p.secretKey, { ...p, id })),
      template_id: getTemplateId(p),
      position: p.position && JSON.stringify(p.position),
    })
    .returning(STEP_COLUMNS);
  const row = await refuseTakenSlug({ kind: 'step', slug }, () => inserted.executeTakeFirst());
  await sql`
    UPDATE workflows SET entry_step_id = ${id} WHERE id = ${p.workflowId} AND entry_step_id IS NULL
  `.execute(trx);
  if (p.autoConnect) await connectToLast(trx, p, id);
  return toStep(row);
}

/**
 * Changes a step. Executions that have not passed the step yet use the new config.
 * @throws AppError as `insertStep`
 */
export async function updateStep(
  trx: Trx,
  p: StepRef &
    WithReadVersion & {
      name?: string | undefined;
      config?: StepConfig | undefined;
      position?: { x: number; y: number } | null | undefined;
      secretKey: string;
    },
): Promise<Step> {
  const workflow = { projectId: p.projectId, id: p.workflowId };
  await lockWorkflow(trx, workflow);
  const current = await getStep(trx, p);
  await lockWorkflowForEdit(trx, { ...workflow, read: p.read, partUpdatedAt: current.updatedAt });
  if (p.config) await assertStepQuota(trx, { ...p, written: [{ id: p.stepId, config: p.config }] });
  if (p.config) await checkReferences(trx, { projectId: p.projectId, step: { type: current.type, config: p.config } });
  const config = p.config
    ? sealStepConfig(p.secretKey, { ...current, config: p.config }, current.config)
    : current.config;
  const position = p.position === undefined ? current.position : p.position;
  const row = await trx
    .updateTable('workflow_steps')
    .set({
      name: p.name ?? current.name,
      config: JSON.stringify(config),
      template_id: getTemplateId({ type: current.type, config }),
      position: position && JSON.stringify(position),
      updated_at: nextVersionSql(),
    })
    .where('project_id', '=', p.projectId)
    .where('workflow_id', '=', p.workflowId)
    .where('id', '=', p.stepId)
    .returning(STEP_COLUMNS)
    .executeTakeFirst();
  return toStep(row);
}

/**
 * Returns one step.
 * @throws AppError NOT_FOUND
 */
export async function getStep(trx: Db, p: StepRef): Promise<Step> {
  return toStep(await selectStep(trx, p).select(STEP_COLUMNS).executeTakeFirst());
}

function selectStep(trx: Db, { projectId, workflowId, stepId }: StepRef) {
  return trx
    .selectFrom('workflow_steps')
    .where('project_id', '=', projectId)
    .where('workflow_id', '=', workflowId)
    .where('id', '=', stepId);
}

/**
 * Deletes a step with its transitions. With `splice`, the previous steps get transitions to the step after the deleted
 * step. Executions at the step end with the status EXITED and the reason `step_deleted`.
 * @throws AppError NOT_FOUND; CONFLICT with `splice` if the branches of the step lead to different steps
 */
export async function deleteStep(trx: Trx, p: StepRef & WithReadVersion & { splice: boolean }): Promise<OutboxRow[]> {
  await lockForEdit(trx, p);
  await getStep(trx, p);
  if (p.splice) await connectNeighbors(trx, p);
  return deleteSteps(trx, { ...p, stepIds: [p.stepId], isRehearsal: false });
}

/**
 * Adds a transition between two steps. A unique index ensures that a step has at most one transition per branch.
 * @throws AppError NOT_FOUND for a step, VALIDATION_ERROR for a branch that the step does not have, CONFLICT for a
 * branch that already has a transition
 */
export async function insertTransition(
  trx: Trx,
  p: WithReadVersion & {
    projectId: string;
    workflowId: string;
    fromStepId: string;
    toStepId: string;
    branch: Transition['branch'];
  },
): Promise<Transition> {
  await lockForEdit(trx, p);
  const from = await getStep(trx, { ...p, stepId: p.fromStepId });
  await getStep(trx, { ...p, stepId: p.toStepId });
  assertBranch(from, p.branch);
  const row = await trx
    .insertInto('workflow_transitions')
    .values({
      project_id: p.projectId,
      workflow_id: p.workflowId,
      from_step_id: p.fromStepId,
      to_step_id: p.toStepId,
      branch: p.branch,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(TRANSITION_COLUMNS)
    .executeTakeFirst();
  if (row) return toTransition(row);
  throw new AppError('CONFLICT', {
    message: `The step already has a ${p.branch ? `“${p.branch}” ` : ''}transition.`,
    details: { fromStepId: p.fromStepId, branch: p.branch },
    suggestion: 'Delete that transition first.',
  });
}

/**
 * Deletes some transitions and adds others. The caller has locked the workflow. The caller has also checked that the
 * steps belong to the workflow and have these branches, and that no branch gets two transitions.
 */
export async function replaceTransitions(
  trx: Trx,
  p: { projectId: string; workflowId: string; gone: string[]; added: Omit<Transition, 'id'>[] },
): Promise<void> {
  const { projectId, workflowId, gone, added } = p;
  if (gone.length > 0) {
    await sql`
      DELETE FROM workflow_transitions WHERE project_id = ${projectId} AND workflow_id = ${workflowId} AND id = ANY(${gone}::uuid[])
    `.execute(trx);
  }
  if (added.length === 0) return;
  await sql`
    INSERT INTO workflow_transitions (project_id, workflow_id, from_step_id, to_step_id, branch)
    SELECT ${projectId}, ${workflowId}, u.* FROM unnest(${added.map((t) => t.fromStepId)}::uuid[],
      ${added.map((t) => t.toStepId)}::uuid[], ${added.map((t) => t.branch)}::text[]) AS u (from_step_id, to_step_id, branch)
  `.execute(trx);
}

/**
 * Deletes a transition.
 * @throws AppError NOT_FOUND
 */
export async function deleteTransition(
  trx: Trx,
  p: WithReadVersion & { projectId: string; workflowId: string; transitionId: string },
): Promise<void> {
  await lockForEdit(trx, p);
  const { numDeletedRows } = await trx
    .deleteFrom('workflow_transitions')
    .where('project_id', '=', p.projectId)
    .where('workflow_id', '=', p.workflowId)
    .where('id', '=', p.transitionId)
    .executeTakeFirst();
  if (!numDeletedRows) throw new AppError('NOT_FOUND');
}

/**
 * Locks the workflow for a change of its steps or transitions.
 * @throws AppError NOT_FOUND; CONFLICT when the caller has read another version of the workflow
 */
async function lockForEdit(trx: Trx, p: WithReadVersion & { projectId: string; workflowId: string }): Promise<void> {
  await lockWorkflowForEdit(trx, { projectId: p.projectId, id: p.workflowId, read: p.read });
}

/**
 * Throws if a step does not have the branch.
 * @throws AppError VALIDATION_ERROR
 */
export function assertBranch({ type, config }: Pick<Step, 'type' | 'config'>, branch: Branch | null): void {
  const branches = STEPS[type].branches(config);
  if (branches.includes(branch)) return;
  const takes = branches.map((name) => name ?? 'none');
  throw createFieldError(
    'branch',
    takes.length === 0
      ? `nothing comes after an ${type} step`
      : `the branch of a ${type} step is one of: ${takes.join(', ')}`,
    'invalid_enum_value',
  );
}

/**
 * Adds a transition to a step from the last other step that has a branch without a transition, or that has no
 * transition at all.
 */
async function connectToLast(trx: Trx, p: NewStep, stepId: string): Promise<void> {
  const { steps, transitions } = await getWorkflow(trx, { projectId: p.projectId, id: p.workflowId });
  const others = steps.filter((step) => step.id !== stepId).reverse();
  for (const from of others) {
    const taken = transitions.filter((t) => t.fromStepId === from.id).map((t) => t.branch);
    const branches = STEPS[from.type].branches(from.config);
    const free = branches.find((branch) => !taken.includes(branch));
    if (free === undefined || (branches.includes(null) && taken.length > 0)) continue;
    const { projectId, workflowId } = p;
    await insertTransition(trx, { projectId, workflowId, fromStepId: from.id, toStepId: stepId, branch: free });
    return;
  }
}

async function connectNeighbors(trx: Trx, p: StepRef): Promise<void> {
  const { transitions } = await getWorkflow(trx, { projectId: p.projectId, id: p.workflowId });
  const targets = new Set(
    transitions.filter((t) => t.fromStepId === p.stepId && t.toStepId !== p.stepId).map((t) => t.toStepId),
  );
  if (targets.size > 1) {
    throw new AppError('CONFLICT', {
      message: 'The branches of this step lead to different steps, so the steps around it cannot be joined.',
      details: { toStepIds: [...targets] },
      suggestion: 'Delete it without splice, and draw the transitions you want.',
    });
  }
  const [target] = targets;
  if (target === undefined) return;
  await sql`
    UPDATE workflow_transitions SET to_step_id = ${target}
    WHERE project_id = ${p.projectId} AND workflow_id = ${p.workflowId} AND to_step_id = ${p.stepId} AND from_step_id <> ${p.stepId}
  `.execute(trx);
  await sql`
    UPDATE workflows SET entry_step_id = ${target} WHERE id = ${p.workflowId} AND entry_step_id = ${p.stepId}
  `.execute(trx);
}

async function checkReferences(
  trx: Trx,
  p: { projectId: string; step: { type: StepType; config: StepConfig } },
): Promise<void> {
  const [fault] = await findReferenceErrors(trx, { projectId: p.projectId, steps: [p.step] });
  if (fault) throw fault;
}
