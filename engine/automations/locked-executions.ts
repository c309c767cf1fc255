import type { Trx } from '../../db/connection.ts';
import type { Visit } from '../../db/executions/visits.ts';
import { isOwnedBySql } from '../../db/owned-by.ts';
import { prepared } from '../../db/prepared.ts';
import type { RowOf } from '../../db/schema/database.ts';
import { type Graph, loadGraphs } from '../../db/workflows/graph.ts';
import type { ExecutionStatus } from '../../rules/executions/execution.ts';
import { fillExitVariables } from './variables.ts';
import type { WalkingExecution } from './walk.ts';

/** An execution, its status, and the name of its workflow. */
export interface CurrentExecution extends WalkingExecution {
  workflowName: string;
  startedAt: Date;
  completedAt: Date | null;
  status: ExecutionStatus;
  reason: string | null;
}

/** An execution whose contact is locked, with the current version of its workflow. */
export interface LockedExecution {
  execution: CurrentExecution;
  graph: Graph;
  /** Whether the contact is known to have been erased. Such an execution must end. */
  isErased: boolean;
  /** The visit with the number in the caller's request. */
  requested: Visit | undefined;
  /** The visit that the execution is at. */
  current: Visit | undefined;
  /** Time since the current visit started, in milliseconds by Postgres's clock. */
  visitAgeMs: number;
}

/**
 * Locks the contacts of executions and then the executions, each in the order of their ids, and reads the executions.
 * Every transaction that locks contacts and executions uses this order. Returns the executions by id. The result lacks
 * ids for which no row exists.
 * @param p.contactsLocked whether the caller's transaction has already locked the contacts
 */
export async function lockExecutions(
  trx: Trx,
  p: { projectId: string; requested: { executionId: string; visit: number }[]; contactsLocked?: boolean },
): Promise<Map<string, LockedExecution>> {
  const { projectId, requested } = p;
  const contacts = p.contactsLocked
    ? undefined
    : await lockContactsOfExecutions(trx, { projectId, ids: requested.map(getExecutionId) });
  const { rows } = await prepared<LockedRow>`
    SELECT e.id, e.project_id AS "projectId", e.workflow_id AS "workflowId", e.contact_id AS "contactId", e.visit,
      e.event, e.context, e.untrusted, e.swayed AS "untrustedTrigger", e.mode, e.laps, e.run, e.status,
      e.exit_reason AS reason, e.started_at AS "startedAt", e.completed_at AS "completedAt", w.name AS "workflowName",
      jsonb_build_object('exitOn', coalesce(w.exit_on, '[]'), 'exitWhenUnsubscribed', w.exit_when_unsubscribed) AS exits, to_jsonb(a) AS requested, to_jsonb(c) AS current,
      (1000 * extract(epoch FROM now() - c.started_at))::float8 AS "visitAgeMs"
    FROM unnest(${requested.map(getExecutionId)}::uuid[], ${requested.map((a) => a.visit)}::int[]) AS u (id, visit)
    JOIN executions e ON e.id = u.id AND ${isOwnedBySql('e.project_id', projectId)}
    JOIN workflows w ON w.id = e.workflow_id
    LEFT JOIN execution_steps a ON a.execution_id = e.id AND a.visit = u.visit
    LEFT JOIN execution_steps c ON c.execution_id = e.id AND c.visit = e.visit
    ORDER BY e.id FOR NO KEY UPDATE OF e
  `.execute(trx);
  for (const row of rows) if (row.run) row.exits = await fillExitVariables(trx, row, row.exits);
  const workflowIds = rows.map((row) => row.workflowId);
  const graphs = await loadGraphs(trx, { projectId, workflowIds });
  return new Map(rows.map((row) => [row.id, toLockedExecution(row, { graphs, contacts })]));
}

/** Locks the contacts of executions, and returns the ids of the contacts that exist. */
async function lockContactsOfExecutions(trx: Trx, p: { projectId: string; ids: string[] }): Promise<Set<string>> {
  const { rows } = await prepared<{ id: string }>`
    SELECT id FROM contacts WHERE ${isOwnedBySql('project_id', p.projectId)} AND id IN (
      SELECT contact_id FROM executions WHERE id = ANY(${p.ids}::uuid[]) AND ${isOwnedBySql('project_id', p.projectId)})
    ORDER BY id FOR NO KEY UPDATE
  `.execute(trx);
  return new Set(rows.map((row) => row.id));
}

interface LockedRow extends CurrentExecution {
  requested: VisitRow | null;
  current: VisitRow | null;
  visitAgeMs: number | null;
}

/** A row of `execution_steps` as JSON, in which instants are strings. */
interface VisitRow extends RowOf<'execution_steps', ['visit', 'step_id', 'type', 'status']> {
  started_at: string;
  due_at: string | null;
}

function toLockedExecution(
  { requested, current, visitAgeMs, ...execution }: LockedRow,
  { graphs, contacts }: { graphs: Map<string, Graph>; contacts: ReadonlySet<string> | undefined },
): LockedExecution {
  const graph = graphs.get(execution.workflowId);
  if (!graph) throw new Error('the workflow of an execution was not loaded');
  return {
    execution,
    graph,
    isErased: contacts !== undefined && !contacts.has(execution.contactId),
    requested: toVisit(requested),
    current: toVisit(current),
    visitAgeMs: visitAgeMs ?? 0,
  };
}

function toVisit(row: VisitRow | null): Visit | undefined {
  if (!row) return undefined;
  const { visit, step_id, type, status, started_at, due_at } = row;
  const dueAt = due_at === null ? null : new Date(due_at);
  return { visit, stepId: step_id, type, status, startedAt: new Date(started_at), dueAt };
}

const getExecutionId = ({ executionId }: { executionId: string }): string => executionId;
