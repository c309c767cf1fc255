import { sql } from 'kysely';
import { AppError } from '../domain/errors.ts';
import type { Branch } from '../domain/steps/definition.ts';
import type { StepType } from '../domain/steps/registry.ts';
import { checkGraph, type WorkflowGraph } from '../domain/workflow-graph.ts';
import type { Db, Trx } from './connection.ts';
import { afterCursor, type NumberedPage, offsetOf, toNumberedPage } from './keyset.ts';
import { required } from './required.ts';
import { takeRoom } from './room.ts';

export interface Workflow {
  id: string;
  name: string;
  description: string | null;
  triggerType: 'EVENT' | 'MANUAL';
  eventName: string | null;
  enabled: boolean;
  allowReentry: boolean;
  entryStepId: string | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface Step {
  id: string;
  type: StepType;
  name: string;
  config: Record<string, unknown>;
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
  description?: string | null | undefined;
  triggerType?: 'EVENT' | 'MANUAL' | undefined;
  eventName?: string | null | undefined;
  enabled?: boolean | undefined;
  allowReentry?: boolean | undefined;
  entryStepId?: string | null | undefined;
}

const COLUMNS = sql.raw(`id, name, description, trigger_type AS "triggerType", event_name AS "eventName", enabled,
  allow_reentry AS "allowReentry", entry_step_id AS "entryStepId", created_at AS "createdAt", updated_at AS "updatedAt"`);
export const STEP_COLUMNS = sql.raw(`id, type, name, config, template_id AS "templateId", position,
  created_at AS "createdAt", updated_at AS "updatedAt"`);
export const TRANSITION_COLUMNS = sql.raw(`id, from_step_id AS "fromStepId", to_step_id AS "toStepId", branch`);

export interface WorkflowKey {
  projectId: string;
  id: string;
}

/** A workflow starts disabled and without steps. @throws AppError CONFLICT when the project has 500 */
export async function insertWorkflow(
  trx: Trx,
  p: {
    projectId: string;
    name: string;
    description: string | null;
    triggerType: 'EVENT' | 'MANUAL';
    eventName: string | null;
    allowReentry: boolean;
  },
): Promise<WorkflowDetail> {
  await takeRoom(trx, p.projectId, 'workflows');
  const { rows } = await sql<Workflow>`
    INSERT INTO workflows (project_id, name, description, trigger_type, event_name, allow_reentry)
    VALUES (${p.projectId}, ${p.name}, ${p.description}, ${p.triggerType}, ${p.eventName}, ${p.allowReentry})
    RETURNING ${COLUMNS}
  `.execute(trx);
  return { ...required(rows[0]), steps: [], transitions: [] };
}

/** @throws AppError NOT_FOUND */
export async function getWorkflow(db: Db, p: WorkflowKey): Promise<WorkflowDetail> {
  const { rows } = await sql<Workflow>`
    SELECT ${COLUMNS} FROM workflows WHERE project_id = ${p.projectId} AND id = ${p.id}
  `.execute(db);
  return withGraph(db, p, required(rows[0]));
}

/** Newest first, by page number or cursor. */
export async function listWorkflows(
  db: Db,
  p: { projectId: string; page: number; pageSize: number; cursor?: string | undefined },
): Promise<NumberedPage<Workflow>> {
  const { rows } = await sql<Workflow>`
    SELECT ${COLUMNS} FROM workflows WHERE project_id = ${p.projectId} AND ${afterCursor(p.cursor)}
    ORDER BY id DESC LIMIT ${p.pageSize + 1} OFFSET ${offsetOf(p)}
  `.execute(db);
  const counted = await sql<{ total: number }>`
    SELECT count(*) AS total FROM workflows WHERE project_id = ${p.projectId}
  `.execute(db);
  const { page, pageSize } = p;
  return toNumberedPage(rows, { page, pageSize, total: counted.rows[0]?.total ?? 0 }, (row) => row);
}

/**
 * Changes a workflow. Enabling checks its whole graph as it is after the change.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR with every fault of the graph, or an entry step that is not its own
 */
export async function updateWorkflow(trx: Trx, p: WorkflowKey & { changes: WorkflowChanges }): Promise<WorkflowDetail> {
  const current = await lockWorkflow(trx, p);
  const wanted = { ...current, ...definedOnly(p.changes) };
  const { rows } = await sql<Workflow>`
    UPDATE workflows SET name = ${wanted.name}, description = ${wanted.description}, trigger_type = ${wanted.triggerType},
      event_name = ${wanted.eventName}, enabled = ${wanted.enabled}, allow_reentry = ${wanted.allowReentry},
      entry_step_id = ${wanted.entryStepId}, updated_at = now()
    WHERE project_id = ${p.projectId} AND id = ${p.id}
    RETURNING ${COLUMNS}
  `.execute(trx);
  const detail = await withGraph(trx, p, required(rows[0]));
  const errors = await faultsOf(trx, p.projectId, detail, p.changes);
  if (errors.length > 0)
    throw new AppError('VALIDATION_ERROR', { message: 'The workflow cannot be run as it is.', errors });
  return detail;
}

/** Deletes a workflow without active executions. @throws AppError NOT_FOUND, CONFLICT */
export async function deleteWorkflow(trx: Trx, p: WorkflowKey): Promise<void> {
  // FOR UPDATE keeps out executions that are being inserted (their foreign key needs a share of this row), so the count is final.
  await lockWorkflow(trx, p, 'FOR UPDATE');
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
  await sql`DELETE FROM workflows WHERE project_id = ${p.projectId} AND id = ${p.id}`.execute(trx);
}

/** Locks a workflow against other changes; executions go on starting (`FOR NO KEY UPDATE`). @throws AppError NOT_FOUND */
export async function lockWorkflow(
  trx: Trx,
  p: WorkflowKey,
  strength: 'FOR NO KEY UPDATE' | 'FOR UPDATE' = 'FOR NO KEY UPDATE',
): Promise<Workflow> {
  const { rows } = await sql<Workflow>`
    SELECT ${COLUMNS} FROM workflows WHERE project_id = ${p.projectId} AND id = ${p.id} ${sql.raw(strength)}
  `.execute(trx);
  return required(rows[0]);
}

async function withGraph(db: Db, p: WorkflowKey, workflow: Workflow): Promise<WorkflowDetail> {
  const steps = await sql<Step>`
    SELECT ${STEP_COLUMNS} FROM workflow_steps WHERE project_id = ${p.projectId} AND workflow_id = ${p.id} ORDER BY id
  `.execute(db);
  const transitions = await sql<Transition>`
    SELECT ${TRANSITION_COLUMNS} FROM workflow_transitions
    WHERE project_id = ${p.projectId} AND workflow_id = ${p.id} ORDER BY id
  `.execute(db);
  return { ...workflow, steps: steps.rows, transitions: transitions.rows };
}

async function faultsOf(trx: Trx, projectId: string, detail: WorkflowDetail, changes: WorkflowChanges) {
  const strange =
    changes.entryStepId && !detail.steps.some((step) => step.id === changes.entryStepId)
      ? [{ field: 'entryStepId', message: 'this is not a step of the workflow', code: 'custom' }]
      : [];
  return changes.enabled ? [...strange, ...checkGraph(await checkable(trx, projectId, detail))] : strange;
}

async function checkable(trx: Trx, projectId: string, detail: WorkflowDetail): Promise<WorkflowGraph> {
  const ready = await listReadySenders(trx, projectId, detail.id);
  return {
    ...detail,
    steps: detail.steps.map((step) => ({ ...step, senderReady: ready.has(step.id) })),
  };
}

/** Steps with a template whose sender, or that of their template, is on a verified domain. */
async function listReadySenders(trx: Trx, projectId: string, workflowId: string): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    SELECT s.id FROM workflow_steps s JOIN templates t ON t.id = s.template_id AND t.project_id = s.project_id
    JOIN domains d ON d.project_id = s.project_id AND d.status = 'VERIFIED' AND d.domain = lower(split_part(
      coalesce(s.config->'from'->>'email', s.config->>'from', t.from_email), '@', 2))
    WHERE s.project_id = ${projectId} AND s.workflow_id = ${workflowId}
  `.execute(trx);
  return new Set(rows.map((row) => row.id));
}

function definedOnly<T extends object>(changes: T): Partial<{ [K in keyof T]: Exclude<T[K], undefined> }> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as never;
}
