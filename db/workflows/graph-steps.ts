/**
 * Writes many steps of a workflow at once. Saving a graph needs the same number of statements for one step as for 500.
 */
import { sql } from 'kysely';
import type { StepConfig } from '../../rules/executions/steps/definition.ts';
import type { StepType } from '../../rules/executions/steps/registry.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { findFreeSlug, toSlug } from '../../rules/slug.ts';
import type { Trx } from '../connection.ts';
import { endExecutions } from '../executions/end-executions.ts';
import { getTemplateId } from './step-references.ts';

interface WorkflowRef {
  projectId: string;
  workflowId: string;
}

export interface StepToWrite {
  id: string;
  type: StepType;
  name: string;
  /** The config with encrypted secrets, as it is stored. */
  config: StepConfig;
  position: { x: number; y: number } | null;
}

/**
 * Inserts steps in their order. The caller has locked the workflow, and has checked the limit of steps and the errors
 * that `findReferenceErrors` returns.
 */
export async function insertSteps(trx: Trx, { projectId, workflowId }: WorkflowRef, steps: StepToWrite[]) {
  if (steps.length === 0) return;
  const slugs = await chooseFreeSlugs(
    trx,
    workflowId,
    steps.map(({ name }) => name),
  );
  await sql`
    INSERT INTO workflow_steps (project_id, workflow_id, slug, id, type, name, config, template_id, position)
    SELECT ${projectId}, ${workflowId}, u.* FROM unnest(${slugs}::text[], ${toColumns(steps)})
      AS u (slug, id, type, name, config, template_id, position)
  `.execute(trx);
}

/** Changes steps by their ids. The same preconditions apply as for `insertSteps`. */
export async function updateSteps(trx: Trx, { projectId, workflowId }: WorkflowRef, steps: StepToWrite[]) {
  if (steps.length === 0) return;
  await sql`
    UPDATE workflow_steps s
    SET name = u.name, config = u.config, template_id = u.template_id, position = u.position, updated_at = now()
    FROM unnest(${toColumns(steps)}) AS u (id, type, name, config, template_id, position)
    WHERE s.project_id = ${projectId} AND s.workflow_id = ${workflowId} AND s.id = u.id
  `.execute(trx);
}

function toColumns(steps: StepToWrite[]) {
  const toJsonOrNull = (value: object | null) => value && JSON.stringify(value);
  return sql`${steps.map(({ id }) => id)}::uuid[], ${steps.map(({ type }) => type)}::text[],
    ${steps.map(({ name }) => name)}::text[], ${steps.map(({ config }) => toJsonOrNull(config))}::jsonb[],
    ${steps.map(getTemplateId)}::uuid[], ${steps.map(({ position }) => toJsonOrNull(position))}::jsonb[]`;
}

async function chooseFreeSlugs(trx: Trx, workflowId: string, names: string[]): Promise<string[]> {
  const { rows } = await sql<{ slug: string }>`
    SELECT slug FROM workflow_steps WHERE workflow_id = ${workflowId}
  `.execute(trx);
  const taken = new Set(rows.map(({ slug }) => slug));
  return names.map((name) => {
    const slug = findFreeSlug(toSlug(name), taken);
    taken.add(slug);
    return slug;
  });
}

/**
 * Deletes steps with their transitions. Executions at these steps end with the status EXITED and the reason
 * `step_deleted`. In a rehearsal (a dry run, whose transaction is rolled back), no execution is ended, because there
 * may be many. The caller has locked the workflow.
 */
export async function deleteSteps(
  trx: Trx,
  p: WorkflowRef & { stepIds: string[]; isRehearsal: boolean },
): Promise<OutboxRow[]> {
  const { projectId, workflowId, stepIds } = p;
  if (stepIds.length === 0) return [];
  const these = sql`project_id = ${projectId} AND workflow_id = ${workflowId} AND id = ANY(${stepIds}::uuid[])`;
  // Waits for transactions in which executions enter these steps, and blocks further ones.
  await sql`SELECT id FROM workflow_steps WHERE ${these} ORDER BY id FOR UPDATE`.execute(trx);
  const outbox = p.isRehearsal ? [] : await endExecutionsAt(trx, p);
  await sql`
    UPDATE workflows SET entry_step_id = NULL, updated_at = now()
    WHERE project_id = ${projectId} AND id = ${workflowId} AND entry_step_id = ANY(${stepIds}::uuid[])
  `.execute(trx);
  await sql`DELETE FROM workflow_steps WHERE ${these}`.execute(trx);
  return outbox;
}

async function endExecutionsAt(trx: Trx, p: WorkflowRef & { stepIds: string[] }): Promise<OutboxRow[]> {
  const { outbox } = await endExecutions(trx, {
    projectId: p.projectId,
    where: sql<boolean>`workflow_id = ${p.workflowId} AND current_step_id = ANY(${p.stepIds}::uuid[])`,
    status: 'EXITED',
    reason: 'step_deleted',
  });
  return outbox;
}
