import { sql, type Transaction } from 'kysely';
import type { ExecutionStatus } from '../domain/execution.ts';
import { EMPTY, type Graph, loadGraphs } from './execution-graph.ts';
import type { Visit } from './execution-visits.ts';
import type { WalkingExecution } from './execution-walk.ts';
import type { Database } from './schema.ts';

/** An execution at the visit where it stands. */
export interface StandingExecution extends WalkingExecution {
  workflowName: string;
  startedAt: Date;
  completedAt: Date | null;
  status: ExecutionStatus;
  reason: string | null;
}

/** An execution under its contact's lock, with its tenant's workflow as it is now. */
export interface LockedExecution {
  execution: StandingExecution;
  graph: Graph;
  /** The visit that was asked for. */
  asked: Visit | undefined;
  /** The one where it stands. */
  current: Visit | undefined;
}

/**
 * Locks the contacts of executions, then the executions, each in the order of their ids, and reads them: the order of every transaction that
 * touches both. By the execution's id; those that are gone are left out.
 */
export async function lockExecutions(
  trx: Transaction<Database>,
  projectId: string,
  asked: { executionId: string; visit: number }[],
): Promise<Map<string, LockedExecution>> {
  const ids = asked.map((a) => a.executionId);
  await sql`
    /* prepared */ SELECT id FROM contacts WHERE project_id = ${projectId} AND id IN (
      SELECT contact_id FROM executions WHERE project_id = ${projectId} AND id = ANY(${ids}::uuid[]))
    ORDER BY id FOR NO KEY UPDATE
  `.execute(trx);
  const { rows } = await sql<StandingExecution>`
    /* prepared */ SELECT e.id, e.project_id AS "projectId", e.workflow_id AS "workflowId", e.contact_id AS "contactId", e.visit, e.event,
      e.context, e.untrusted, e.mode, e.status, e.exit_reason AS reason, e.started_at AS "startedAt",
      e.completed_at AS "completedAt", w.name AS "workflowName"
    FROM executions e JOIN workflows w ON w.id = e.workflow_id
    WHERE e.project_id = ${projectId} AND e.id = ANY(${ids}::uuid[])
    ORDER BY e.id FOR NO KEY UPDATE OF e
  `.execute(trx);
  const current = rows.map(({ id, visit }) => ({ executionId: id, visit }));
  const visits = await findVisits(trx, projectId, [...asked, ...current]);
  const workflowIds = rows.map((row) => row.workflowId);
  const graphs = await loadGraphs(trx, projectId, workflowIds);
  const askedVisits = new Map(asked.map(({ executionId, visit }) => [executionId, visit]));
  return new Map(
    rows.map((execution) => [
      execution.id,
      {
        execution,
        graph: graphs.get(execution.workflowId) ?? EMPTY,
        asked: visits.get(keyOf(execution.id, askedVisits.get(execution.id) ?? 0)),
        current: visits.get(keyOf(execution.id, execution.visit)),
      },
    ]),
  );
}

async function findVisits(
  trx: Transaction<Database>,
  projectId: string,
  refs: { executionId: string; visit: number }[],
): Promise<Map<string, Visit>> {
  const { rows } = await sql<Visit & { executionId: string }>`
    /* prepared */ SELECT s.execution_id AS "executionId", s.visit, s.step_id AS "stepId", s.type, s.status,
      s.started_at AS "startedAt", s.due_at AS "dueAt"
    FROM unnest(${refs.map((r) => r.executionId)}::uuid[], ${refs.map((r) => r.visit)}::int[]) AS u (execution_id, visit)
    JOIN execution_steps s USING (execution_id, visit)
    WHERE s.project_id = ${projectId}
  `.execute(trx);
  return new Map(rows.map((row) => [keyOf(row.executionId, row.visit), row]));
}

const keyOf = (executionId: string, visit: number): string => `${executionId} ${visit}`;
