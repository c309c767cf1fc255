import {
  findWorkflowErrors,
  getWorkflow,
  insertWorkflow,
  listWorkflowDetails,
  updateWorkflow,
  type WorkflowDetail,
} from '../../../db/workflows/workflows.ts';
import { listChangedFields } from '../../../rules/as-code/changes.ts';
import { AppError, createFieldError, type FieldError } from '../../../rules/errors.ts';
import { findPrivateUrls } from '../workflow-steps/private-urls.ts';
import { CreateWorkflow } from '../workflows/input.ts';
import { type ApplyState, addFinding, parseItem, recordChange, withFieldPrefix } from './apply-state.ts';
import { applySteps, applyTransitions } from './apply-steps.ts';
import type { WorkflowItem } from './input.ts';

export async function applyWorkflows(applying: ApplyState, items: readonly WorkflowItem[]): Promise<void> {
  if (items.length === 0) return;
  const all = await listWorkflowDetails(applying.trx, applying.projectId);
  const stored = new Map(all.map((workflow) => [workflow.slug, workflow]));
  for (const [i, item] of items.entries()) {
    await withFieldPrefix(`workflows.${i}`, () => applyWorkflow(applying, { item, stored: stored.get(item.slug) }));
  }
}

async function applyWorkflow(
  applying: ApplyState,
  p: { item: WorkflowItem; stored: WorkflowDetail | undefined },
): Promise<void> {
  const { item, stored } = p;
  const current = stored ?? (await insertNewWorkflow(applying, item));
  const steps = await applySteps(applying, { item, current });
  const transitions = await applyTransitions(applying, { item, current, ids: steps.ids });
  const fields = await applyFields(applying, { item, current, ids: steps.ids });
  const graph = [...steps.changes, ...(transitions ? ['transitions'] : [])];
  const enabled = await applyEnabled(applying, {
    item,
    current,
    ids: steps.ids,
    changed: graph.length + fields.length > 0,
  });
  const changes = [...fields, ...enabled, ...graph];
  recordChange(applying, { kind: 'workflow', slug: item.slug, name: item.name ?? current.name }, stored && changes);
}

async function insertNewWorkflow(applying: ApplyState, item: WorkflowItem): Promise<WorkflowDetail> {
  const { trx, projectId } = applying;
  const { triggerConfig: _, ...input } = parseItem(CreateWorkflow, item, '');
  const { description = null, eventName = null, includeAutomatic = false, reentryKey = null } = input;
  const exitOn = input.exitOn ?? [];
  return insertWorkflow(trx, { ...input, projectId, description, eventName, includeAutomatic, reentryKey, exitOn });
}

type StepIds = ReadonlyMap<string, string>;

/** Changes the fields of a workflow, except its steps and `enabled`. Returns the names of changed fields. */
async function applyFields(
  { trx, projectId }: ApplyState,
  p: { item: WorkflowItem; current: WorkflowDetail; ids: StepIds },
): Promise<string[]> {
  const { slug: _, entry, enabled: __, steps: ___, transitions: ____, ...fields } = p.item;
  // Reads the workflow again, because adding the first step or removing the entry step has changed its entry.
  const [reloaded] = (await listWorkflowDetails(trx, projectId)).filter(({ id }) => id === p.current.id);
  const workflow = reloaded ?? p.current;
  const entryStepId = entry ? p.ids.get(entry) : entry;
  if (entry && entryStepId === undefined) throw createFieldError('entry', `There is no step with the slug ${entry}.`);
  const { exitOn, ...others } = fields;
  const wanted = {
    ...others,
    ...(exitOn !== undefined && { exitOn: exitOn ?? [] }),
    ...(entry !== undefined && { entryStepId }),
  };
  const changes = listChangedFields(wanted, workflow);
  if (changes.length > 0) await updateWorkflow(trx, { projectId, id: p.current.id, changes: wanted });
  return changes.map((name) => (name === 'entryStepId' ? 'entry' : name));
}

/**
 * Enables or disables the workflow as the file says. The graph of an enabled workflow must be valid. If its only error
 * is a sender that is not on a verified domain, `enabled` does not change, and the response gets a finding.
 * @throws AppError VALIDATION_ERROR with all errors of the graph
 */
async function applyEnabled(
  applying: ApplyState,
  p: { item: WorkflowItem; current: WorkflowDetail; ids: StepIds; changed: boolean },
): Promise<string[]> {
  const { trx, projectId } = applying;
  const { id, enabled } = p.current;
  const wanted = p.item.enabled ?? enabled;
  if (wanted === enabled && !(wanted && p.changed)) return [];
  if (wanted) {
    const { drawn, unverified } = await findWorkflowErrors(trx, { projectId, id });
    const hasToCheckUrls = !enabled && !applying.allowPrivate;
    const unreachable = hasToCheckUrls ? findPrivateUrls((await getWorkflow(trx, { projectId, id })).steps) : [];
    if (drawn.length + unreachable.length > 0) throw createInvalidGraphError([...drawn, ...unreachable], p.ids);
    if (unverified.length > 0) {
      const message = `The workflow ${p.item.slug} has steps without a verified sender: it stays ${enabled ? 'enabled' : 'disabled'}.`;
      const details = { kind: 'workflow', slug: p.item.slug, enabled, errors: withStepSlugs(unverified, p.ids) };
      addFinding(applying, { code: 'workflow_not_enabled', severity: 'warning', message, details });
      return [];
    }
  }
  if (wanted === enabled) return [];
  await updateWorkflow(trx, { projectId, id, changes: { enabled: wanted } });
  return ['enabled'];
}

function createInvalidGraphError(faults: FieldError[], ids: StepIds): AppError {
  return new AppError('VALIDATION_ERROR', {
    message: 'The workflow cannot run.',
    errors: withStepSlugs(faults, ids),
  });
}

/** Returns the errors with slugs of steps instead of ids. */
function withStepSlugs(faults: readonly FieldError[], ids: StepIds): FieldError[] {
  const slugs = new Map([...ids].map(([slug, id]) => [id, slug]));
  return faults.map((fault) => {
    const [first, id, ...rest] = fault.field.split('.');
    const field = first === 'steps' && id ? [first, slugs.get(id) ?? id, ...rest].join('.') : fault.field;
    return { ...fault, field: field === 'entryStepId' ? 'entry' : field };
  });
}
