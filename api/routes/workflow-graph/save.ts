import type { Db, Trx } from '../../../db/connection.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { assertBranch, replaceTransitions } from '../../../db/workflows/workflow-steps.ts';
import {
  findWorkflowErrors,
  getWorkflow,
  lockWorkflow,
  type Transition,
  updateWorkflow,
  type WorkflowDetail,
} from '../../../db/workflows/workflows.ts';
import { AppError, createFieldError, type FieldError } from '../../../rules/errors.ts';
import { computeGraphVersion } from '../../../rules/executions/graph-version.ts';
import type { Branch } from '../../../rules/executions/steps/definition.ts';
import type { OutboxRow } from '../../../rules/outbox.ts';
import { assertUnchanged, type ReadVersion, toConflictDetails } from '../../../rules/record-version.ts';
import { findPrivateUrls } from '../workflow-steps/private-urls.ts';
import type { GraphInput } from './input.ts';
import { collectErrors, createGraphError, type GraphSaveState, getStepId, throwCollectedErrors } from './save-state.ts';
import { removeSteps, saveSteps } from './save-steps.ts';

/** The result of saving a graph. */
export interface Saved {
  workflow: WorkflowDetail;
  /** Stored ids of new steps, by the `id` that each has in the request. */
  ids: Record<string, string>;
  /** Errors that prevent the workflow from being enabled. */
  faults: FieldError[];
  outbox: OutboxRow[];
}

/** Thrown to roll back the transaction of a dry run. Contains the result of the dry run. */
class DryRun extends Error {
  readonly saved: Saved;

  constructor(saved: Saved) {
    super('a dry run leaves nothing');
    this.saved = saved;
  }
}

/**
 * Changes the steps and transitions of a workflow to match a graph, in one transaction. The same rules apply as for
 * single steps, but each SQL statement writes all steps or all transitions. Running executions continue with the new
 * graph. Executions at a removed step end EXITED with `step_deleted`.
 * A VALIDATION_ERROR has the errors of all steps, at `steps.<id>…`, and all references to steps that the graph does not
 * have. If the graph has no such error, it has the errors about the branches of transitions, at `transitions.<index>…`.
 * If the branches have no error either and the workflow is enabled, it has the errors of the graph that prevent a
 * workflow from being enabled, except senders without a verified domain.
 * @throws AppError NOT_FOUND, VALIDATION_ERROR; CONFLICT if the graph has changed since the version in the request, or
 * has too many steps
 */
export async function saveGraph(
  db: Db,
  p: Pick<GraphSaveState, 'projectId' | 'workflowId' | 'secretKey' | 'allowPrivate'> & {
    graph: GraphInput;
    read?: ReadVersion | undefined;
  },
): Promise<Saved> {
  try {
    return await inTransaction(db, async (trx) => {
      const saved = await saveInTransaction(trx, p);
      if (p.graph.dryRun) throw new DryRun(saved);
      return saved;
    });
  } catch (error) {
    if (error instanceof DryRun) return { ...error.saved, outbox: [] };
    throw error;
  }
}

async function saveInTransaction(trx: Trx, p: Parameters<typeof saveGraph>[1]): Promise<Saved> {
  const { projectId, workflowId, graph } = p;
  const key = { projectId, id: workflowId };
  await lockWorkflow(trx, key);
  const current = await getWorkflow(trx, key);
  assertUnchanged({ name: 'workflow', updatedAt: current.updatedAt }, p.read);
  refuseOtherVersion(current, graph.version);
  const storedIds = new Map(current.steps.map(({ id }) => [id, id]));
  const saving: GraphSaveState = { trx, ...p, current, ids: storedIds, refused: [] };
  collectUnknownSteps(saving);
  refuseDuplicateIds(saving);
  const outbox = await removeSteps(saving);
  await saveSteps(saving);
  throwCollectedErrors(saving);
  await saveTransitions(saving);
  const entryStepId = graph.entryStepId === null ? null : getStepId(saving, graph.entryStepId);
  await updateWorkflow(trx, { ...key, changes: { entryStepId } });
  const { drawn, unverified } = await findWorkflowErrors(trx, key);
  const byName = (faults: FieldError[]) => withRequestIds(faults, saving.ids);
  if (current.enabled && drawn.length > 0)
    throw createGraphError('The workflow is enabled, and this graph cannot run.', byName(drawn));
  const ids = Object.fromEntries([...saving.ids].filter(([name, id]) => name !== id));
  const workflow = await getWorkflow(trx, key);
  const unreachable = p.allowPrivate ? [] : findPrivateUrls(workflow.steps);
  return { workflow, ids, faults: byName([...drawn, ...unverified, ...unreachable]), outbox };
}

function refuseOtherVersion(workflow: WorkflowDetail, version: string | undefined): void {
  const current = computeGraphVersion(workflow);
  if (version === undefined || version === current) return;
  throw new AppError('CONFLICT', {
    message: 'The workflow has changed since it was read.',
    details: { version: current, ...toConflictDetails(workflow.updatedAt) },
    suggestion: 'Read it again with GET /workflows/{id}, and make the changes there.',
  });
}

/** Records an error for each reference to a step that the graph does not have. */
function collectUnknownSteps(saving: GraphSaveState): void {
  const { steps, transitions, entryStepId } = saving.graph;
  const known = new Set(steps.map(({ id }) => id));
  const check = (id: string, field: string) =>
    collectErrors(saving, field, () => {
      if (!known.has(id)) throw createFieldError('', `There is no step ${id} in this graph.`);
    });
  for (const [i, { fromStepId, toStepId }] of transitions.entries()) {
    check(fromStepId, `transitions.${i}.fromStepId`);
    check(toStepId, `transitions.${i}.toStepId`);
  }
  if (entryStepId !== null) check(entryStepId, 'entryStepId');
}

/**
 * Refuses a graph in which several steps have the same id.
 * @throws AppError VALIDATION_ERROR with one error for each such id, and with the errors so far
 */
function refuseDuplicateIds(saving: GraphSaveState): void {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { id } of saving.graph.steps) {
    if (seen.has(id)) repeated.add(id);
    seen.add(id);
  }
  for (const id of repeated)
    saving.refused.push({ field: `steps.${id}`, message: 'Two steps have this id.', code: 'custom' });
  if (repeated.size > 0) throwCollectedErrors(saving);
}

async function saveTransitions(saving: GraphSaveState): Promise<void> {
  const { trx, projectId, workflowId, graph } = saving;
  const { steps, transitions: drawn } = await getWorkflow(trx, { projectId, id: workflowId });
  const stepsById = new Map(steps.map((step) => [step.id, step]));
  const wanted = graph.transitions.map(({ fromStepId, toStepId, branch }, i) => ({
    at: `transitions.${i}`,
    fromStepId: getStepId(saving, fromStepId),
    toStepId: getStepId(saving, toStepId),
    branch: (branch ?? null) as Branch | null,
  }));
  const usedBranches = new Set<string>();
  for (const { at, fromStepId, branch } of wanted) {
    const from = stepsById.get(fromStepId);
    collectErrors(saving, at, () => {
      // The branch may no longer be in the config of its step.
      if (from) assertBranch(from, branch);
      const key = JSON.stringify([fromStepId, branch]);
      if (usedBranches.has(key)) throw createFieldError('branch', 'The step already has a transition for this branch.');
      usedBranches.add(key);
    });
  }
  throwCollectedErrors(saving);
  const keys = new Set(wanted.map(toTransitionKey));
  const storedKeys = new Set(drawn.map(toTransitionKey));
  const gone = drawn.filter((transition) => !keys.has(toTransitionKey(transition)));
  const added = wanted.filter((transition) => !storedKeys.has(toTransitionKey(transition)));
  await replaceTransitions(trx, { projectId, workflowId, gone: gone.map(({ id }) => id), added });
}

function toTransitionKey({ fromStepId, toStepId, branch }: Omit<Transition, 'id'>): string {
  return JSON.stringify([fromStepId, toStepId, branch]);
}

/** Returns the errors with the `id` that a step has in the request, instead of its stored id. */
function withRequestIds(faults: readonly FieldError[], ids: ReadonlyMap<string, string>): FieldError[] {
  const names = new Map([...ids].map(([name, id]) => [id, name]));
  return faults.map((fault) => {
    const [first, id, ...rest] = fault.field.split('.');
    const field = first === 'steps' && id ? [first, names.get(id) ?? id, ...rest].join('.') : fault.field;
    return { ...fault, field };
  });
}
