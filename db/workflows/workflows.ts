import { sql } from 'kysely';
import { AppError, type FieldError } from '../../rules/errors.ts';
import type { ExitEvent } from '../../rules/executions/exits.ts';
import type { Branch, StepConfig } from '../../rules/executions/steps/definition.ts';
import type { StepType } from '../../rules/executions/steps/registry.ts';
import { checkGraph, type TriggerType, type WorkflowGraph } from '../../rules/executions/workflow-graph.ts';
import { groupBy } from '../../rules/filters/group-by.ts';
import { assertUnchanged, type ReadVersion } from '../../rules/record-version.ts';
import type { Db, Trx } from '../connection.ts';
import { containsTextSql } from '../contains-text.ts';
import { afterCursorSql, type NumberedPage, toNumberedPage, toOffset } from '../keyset.ts';
import { fittedPageSql, type Listed } from '../page-budget.ts';
import { assertQuota } from '../records/quotas.ts';
import { nextVersionSql } from '../records/record-version.ts';
import { requireRow } from '../records/required.ts';
import { chooseFreeSlug, refuseTakenSlug } from '../records/slugs.ts';
import type { RowOf } from '../schema/database.ts';

export interface Workflow {
  id: string;
  name: string;
  /** Identifies the workflow in exported files, also in another project. Does not change when the name changes. */
  slug: string;
  description: string | null;
  triggerType: TriggerType;
  eventName: string | null;
  enabled: boolean;
  allowReentry: boolean;
  /**
   * A path such as `event.cartId`: a contact may have one open execution for each value. Null means that a contact may
   * have one open execution.
   */
  reentryKey: string | null;
  entryStepId: string | null;
  exitOn: ExitEvent[];
  exitWhenUnsubscribed: boolean;
  includeAutomatic: boolean;
  createdAt: Date;
  updatedAt: Date;
}

export interface Step {
  id: string;
  type: StepType;
  name: string;
  /** Identifies the step within its workflow in exported files. Does not change when the name changes. */
  slug: string;
  config: StepConfig;
  templateId: string | null;
  position: { x: number; y: number } | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface Transition {
  id: string;
  fromStepId: string;
  toStepId: string;
  branch: Branch | null;
}

export interface WorkflowDetail extends Workflow {
  steps: Step[];
  transitions: Transition[];
}

export interface WorkflowChanges {
  name?: string | undefined;
  slug?: string | undefined;
  description?: string | null | undefined;
  triggerType?: TriggerType | undefined;
  eventName?: string | null | undefined;
  enabled?: boolean | undefined;
  allowReentry?: boolean | undefined;
  reentryKey?: string | null | undefined;
  entryStepId?: string | null | undefined;
  exitOn?: ExitEvent[] | undefined;
  exitWhenUnsubscribed?: boolean | undefined;
  includeAutomatic?: boolean | undefined;
}

const COLUMNS = [
  'id',
  'name',
  'slug',
  'description',
  'trigger_type',
  'event_name',
  'enabled',
  'allow_reentry',
  'reentry_key',
  'entry_step_id',
  'exit_on',
  'exit_when_unsubscribed',
  'include_automatic',
  'created_at',
  'updated_at',
] as const;
export const STEP_COLUMNS = [
  'id',
  'type',
  'name',
  'slug',
  'config',
  'template_id',
  'position',
  'created_at',
  'updated_at',
] as const;
export const TRANSITION_COLUMNS = ['id', 'from_step_id', 'to_step_id', 'branch'] as const;

export interface WorkflowKey {
  projectId: string;
  id: string;
}

/**
 * Creates a workflow. A new workflow is disabled and has no steps.
 * @throws AppError CONFLICT when the project has 500 workflows, or the slug is taken
 */
export async function insertWorkflow(
  trx: Trx,
  p: {
    projectId: string;
    name: string;
    slug?: string | undefined;
    description: string | null;
    triggerType: TriggerType;
    eventName: string | null;
    allowReentry: boolean;
    reentryKey: string | null;
    exitOn: ExitEvent[];
    exitWhenUnsubscribed: boolean;
    includeAutomatic: boolean;
  },
): Promise<WorkflowDetail> {
  await assertQuota(trx, { projectId: p.projectId, table: 'workflows' });
  const slug = p.slug ?? (await chooseFreeSlug(trx, { table: 'workflows', within: p.projectId, name: p.name }));
  const inserted = trx
    .insertInto('workflows')
    .values({
      project_id: p.projectId,
      name: p.name,
      slug,
      description: p.description,
      trigger_type: p.triggerType,
      event_name: p.eventName,
      allow_reentry: p.allowReentry,
      reentry_key: p.reentryKey,
      exit_on: toStoredExits(p.exitOn),
      exit_when_unsubscribed: p.exitWhenUnsubscribed,
      include_automatic: p.includeAutomatic || null,
    })
    .returning(COLUMNS);
  const row = await refuseTakenSlug({ kind: 'workflow', slug }, () => inserted.executeTakeFirst());
  return { ...toWorkflow(row), steps: [], transitions: [] };
}

/**
 * Returns a workflow with its steps and transitions.
 * @throws AppError NOT_FOUND
 */
export async function getWorkflow(db: Db, p: WorkflowKey): Promise<WorkflowDetail> {
  const row = await selectWorkflow(db, p).executeTakeFirst();
  return addGraph(db, p, toWorkflow(row));
}

/** Lists all workflows of the project by slug, with their steps. Does not limit the total size. */
export async function listWorkflowDetails(db: Db, projectId: string): Promise<WorkflowDetail[]> {
  const rows = await db
    .selectFrom('workflows')
    .select(COLUMNS)
    .where('project_id', '=', projectId)
    .orderBy('slug')
    .execute();
  const steps = await db
    .selectFrom('workflow_steps')
    .select([...STEP_COLUMNS, 'workflow_id'])
    .where('project_id', '=', projectId)
    .orderBy('id')
    .execute();
  const transitions = await db
    .selectFrom('workflow_transitions')
    .select([...TRANSITION_COLUMNS, 'workflow_id'])
    .where('project_id', '=', projectId)
    .orderBy('id')
    .execute();
  const stepsOf = groupBy(steps, (step) => step.workflow_id);
  const transitionsOf = groupBy(transitions, (transition) => transition.workflow_id);
  return rows.map((row) => ({
    ...toWorkflow(row),
    steps: (stepsOf.get(row.id) ?? []).map(toStep),
    transitions: (transitionsOf.get(row.id) ?? []).map(toTransition),
  }));
}

/**
 * Finds the errors that prevent a workflow from being enabled. `drawn` are errors of the graph; `unverified` are
 * further errors, which only result from senders without a verified domain.
 */
export async function findWorkflowErrors(
  trx: Trx,
  p: WorkflowKey,
): Promise<{ drawn: FieldError[]; unverified: FieldError[] }> {
  const graph = await toGraph(trx, { projectId: p.projectId, detail: await getWorkflow(trx, p) });
  const drawn = checkGraph({ ...graph, steps: graph.steps.map((step) => ({ ...step, senderReady: true })) });
  const known = new Set(drawn.map(({ field, message }) => `${field} ${message}`));
  const unverified = checkGraph(graph).filter(({ field, message }) => !known.has(`${field} ${message}`));
  return { drawn, unverified };
}

/** Lists workflows newest first, by page number or cursor. `search` is a substring of the name. */
export async function listWorkflows(
  db: Db,
  p: { projectId: string; search?: string | undefined; page: number; pageSize: number; cursor?: string | undefined },
): Promise<NumberedPage<Listed<Workflow>>> {
  const { projectId, page, pageSize, cursor } = p;
  const named = containsTextSql(['name'], p.search);
  const ofProject = db.selectFrom('workflows').where('project_id', '=', projectId).where(named);
  const { rows } = await fittedPageSql<RowOf<'workflows', typeof COLUMNS>>({
    columns: COLUMNS,
    large: { exit_on: { jsonb: 1 } },
    // The response contains the rows twice, as `workflows` and as `data`.
    times: 2,
    rows: sql`${ofProject
      .select(COLUMNS)
      .where(afterCursorSql(cursor))
      .orderBy('id', 'desc')
      .limit(pageSize + 1)
      .offset(toOffset(p))}`,
  }).execute(db);
  const { total } = await ofProject.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return toNumberedPage(rows, { page, pageSize, total }, (row) => ({ ...toWorkflow(row), truncated: row.truncated }));
}

/**
 * Changes a workflow. A change that enables the workflow also checks its whole graph.
 * @throws AppError NOT_FOUND; CONFLICT for a slug that is taken, or when the caller has read an older version;
 * VALIDATION_ERROR with all errors of the graph, or for an entry step of another workflow
 */
export async function updateWorkflow(
  trx: Trx,
  p: WorkflowKey & { changes: WorkflowChanges; read?: ReadVersion | undefined },
): Promise<WorkflowDetail> {
  const current = await lockWorkflow(trx, p);
  assertUnchanged({ name: 'workflow', updatedAt: current.updatedAt }, p.read);
  const wanted = { ...current, ...omitUndefined(p.changes) };
  const updated = trx
    .updateTable('workflows')
    .set({
      name: wanted.name,
      slug: wanted.slug,
      description: wanted.description,
      trigger_type: wanted.triggerType,
      event_name: wanted.eventName,
      enabled: wanted.enabled,
      allow_reentry: wanted.allowReentry,
      reentry_key: wanted.reentryKey,
      entry_step_id: wanted.entryStepId,
      exit_on: toStoredExits(wanted.exitOn),
      exit_when_unsubscribed: wanted.exitWhenUnsubscribed,
      include_automatic: wanted.includeAutomatic || null,
      updated_at: nextVersionSql(),
    })
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.id)
    .returning(COLUMNS);
  const { slug } = p.changes;
  const row = await refuseTakenSlug({ kind: 'workflow', slug }, () => updated.executeTakeFirst());
  const detail = await addGraph(trx, p, toWorkflow(row));
  const errors = await findChangeErrors(trx, { projectId: p.projectId, detail, changes: p.changes });
  if (errors.length > 0) throw new AppError('VALIDATION_ERROR', { message: 'The workflow has errors.', errors });
  return detail;
}

/** Deletes a workflow without active executions. @throws AppError NOT_FOUND, CONFLICT */
export async function deleteWorkflow(trx: Trx, p: WorkflowKey & { read?: ReadVersion | undefined }): Promise<void> {
  // FOR UPDATE blocks transactions that insert executions, because their foreign key needs a shared lock of this row.
  // The count of active executions therefore stays correct.
  const { updatedAt } = await lockWorkflow(trx, p, 'FOR UPDATE');
  assertUnchanged({ name: 'workflow', updatedAt }, p.read);
  const { rows } = await sql<{ active: number }>`
    SELECT count(*) AS active FROM executions WHERE workflow_id = ${p.id} AND completed_at IS NULL
  `.execute(trx);
  const active = rows[0]?.active ?? 0;
  if (active > 0) {
    throw new AppError('CONFLICT', {
      message: 'The workflow has active executions.',
      details: { activeExecutions: active },
      suggestion: 'Cancel them with POST /workflows/{id}/executions/cancel-all, or disable the workflow and wait.',
    });
  }
  // Keeps the status of executions that ended within the last day, because their Temporal workflow may still check it.
  await sql`
    INSERT INTO deleted_rows (id, project_id, status, reason)
    SELECT id, project_id, status, exit_reason FROM executions
    WHERE project_id = ${p.projectId} AND workflow_id = ${p.id} AND completed_at > now() - interval '1 day'
    ON CONFLICT (id) DO NOTHING
  `.execute(trx);
  await sql`DELETE FROM workflows WHERE project_id = ${p.projectId} AND id = ${p.id}`.execute(trx);
}

/**
 * Locks a workflow against other changes. With `FOR NO KEY UPDATE`, executions can still start.
 * @throws AppError NOT_FOUND
 */
export async function lockWorkflow(
  trx: Trx,
  p: WorkflowKey,
  strength: 'FOR NO KEY UPDATE' | 'FOR UPDATE' = 'FOR NO KEY UPDATE',
): Promise<Workflow> {
  const select = selectWorkflow(trx, p);
  const row = await (strength === 'FOR UPDATE' ? select.forUpdate() : select.forNoKeyUpdate()).executeTakeFirst();
  return toWorkflow(row);
}

/**
 * Locks a workflow as `lockWorkflow` does, for a change of its steps or transitions, and gives the workflow a new
 * version.
 * @throws AppError NOT_FOUND; CONFLICT when the caller has read another version
 */
export async function lockWorkflowForEdit(
  trx: Trx,
  p: WorkflowKey & { read?: ReadVersion | undefined; partUpdatedAt?: Date },
): Promise<void> {
  const { updatedAt } = await lockWorkflow(trx, p);
  const part = p.partUpdatedAt && { partUpdatedAt: p.partUpdatedAt };
  assertUnchanged({ name: 'workflow', updatedAt, ...part }, p.read);
  await trx
    .updateTable('workflows')
    .set({ updated_at: nextVersionSql() })
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.id)
    .execute();
}

function selectWorkflow(db: Db, { projectId, id }: WorkflowKey) {
  return db.selectFrom('workflows').select(COLUMNS).where('project_id', '=', projectId).where('id', '=', id);
}

async function addGraph(db: Db, { projectId, id }: WorkflowKey, workflow: Workflow): Promise<WorkflowDetail> {
  const steps = await db
    .selectFrom('workflow_steps')
    .select(STEP_COLUMNS)
    .where('project_id', '=', projectId)
    .where('workflow_id', '=', id)
    .orderBy('id')
    .execute();
  const transitions = await db
    .selectFrom('workflow_transitions')
    .select(TRANSITION_COLUMNS)
    .where('project_id', '=', projectId)
    .where('workflow_id', '=', id)
    .orderBy('id')
    .execute();
  return { ...workflow, steps: steps.map(toStep), transitions: transitions.map(toTransition) };
}

/**
 * Finds the errors of a change that was just written. Checks the whole graph only if the change enables the workflow.
 */
async function findChangeErrors(trx: Trx, p: { projectId: string; detail: WorkflowDetail; changes: WorkflowChanges }) {
  const { projectId, detail, changes } = p;
  const unknownEntry =
    changes.entryStepId && !detail.steps.some((step) => step.id === changes.entryStepId)
      ? [{ field: 'entryStepId', message: 'this is not a step of the workflow', code: 'custom' }]
      : [];
  return changes.enabled ? [...unknownEntry, ...checkGraph(await toGraph(trx, { projectId, detail }))] : unknownEntry;
}

/** Returns the workflow in the form that `checkGraph` reads. */
async function toGraph(trx: Trx, p: { projectId: string; detail: WorkflowDetail }): Promise<WorkflowGraph> {
  const { projectId, detail } = p;
  const ready = await listReadySenders(trx, { projectId, workflowId: detail.id });
  return {
    ...detail,
    steps: detail.steps.map((step) => ({ ...step, senderReady: ready.has(step.id) })),
  };
}

/**
 * Lists the ids of steps whose sender is on a verified domain. A step without a sender uses the sender of its template.
 */
async function listReadySenders(trx: Trx, p: { projectId: string; workflowId: string }): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    SELECT s.id FROM workflow_steps s JOIN templates t ON t.id = s.template_id AND t.project_id = s.project_id
    JOIN domains d ON d.project_id = s.project_id AND d.status = 'VERIFIED' AND d.domain = lower(split_part(
      coalesce(s.config->'from'->>'email', s.config->>'from', t.from_email), '@', 2))
    WHERE s.project_id = ${p.projectId} AND s.workflow_id = ${p.workflowId}
  `.execute(trx);
  return new Set(rows.map((row) => row.id));
}

/**
 * Converts exits to the value of their column. An empty list is stored as NULL: only workflows with exits are in
 * the index that each event reads.
 */
function toStoredExits(exitOn: ExitEvent[]): string | null {
  return exitOn.length === 0 ? null : JSON.stringify(exitOn);
}

function omitUndefined<T extends object>(changes: T): Partial<{ [K in keyof T]: Exclude<T[K], undefined> }> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as never;
}

/**
 * Maps a row to a workflow.
 * @throws AppError NOT_FOUND if the row is undefined
 */
function toWorkflow(row: RowOf<'workflows', typeof COLUMNS> | undefined): Workflow {
  const { id, name, slug, description, trigger_type, event_name, enabled, allow_reentry, reentry_key, ...rest } =
    requireRow(row);
  return {
    id,
    name,
    slug,
    description,
    triggerType: trigger_type,
    eventName: event_name,
    enabled,
    allowReentry: allow_reentry,
    reentryKey: reentry_key,
    entryStepId: rest.entry_step_id,
    exitOn: rest.exit_on ?? [],
    exitWhenUnsubscribed: rest.exit_when_unsubscribed,
    includeAutomatic: rest.include_automatic ?? false,
    createdAt: rest.created_at,
    updatedAt: rest.updated_at,
  };
}

/**
 * Maps a row to a step.
 * @throws AppError NOT_FOUND if the row is undefined
 */
export function toStep(row: RowOf<'workflow_steps', typeof STEP_COLUMNS> | undefined): Step {
  const { id, type, name, slug, config, template_id, position, created_at, updated_at } = requireRow(row);
  return {
    id,
    type,
    name,
    slug,
    config,
    templateId: template_id,
    position,
    createdAt: created_at,
    updatedAt: updated_at,
  };
}

export function toTransition(row: RowOf<'workflow_transitions', typeof TRANSITION_COLUMNS>): Transition {
  return { id: row.id, fromStepId: row.from_step_id, toStepId: row.to_step_id, branch: row.branch };
}
