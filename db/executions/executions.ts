import { sql } from 'kysely';
import { AppError } from '../../rules/errors.ts';
import type { ExecutionStatus, VisitStatus } from '../../rules/executions/execution.ts';
import type { StepType } from '../../rules/executions/steps/registry.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { Db, Trx } from '../connection.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import { countResponseBytes } from '../page-budget.ts';
import { endExecutions } from './end-executions.ts';

export interface Execution {
  id: string;
  workflowId: string;
  contactId: string;
  /** Null after the contact was deleted. */
  contactEmail: string | null;
  status: ExecutionStatus;
  currentStepId: string | null;
  exitReason: string | null;
  error: string | null;
  context: Record<string, unknown>;
  event: Record<string, unknown>;
  eventName: string | null;
  /** True if the execution tests the workflow. Statistics do not count such an execution. */
  sandbox: boolean;
  startedAt: Date;
  completedAt: Date | null;
  /** False until Temporal has started the execution's workflow. */
  begun: boolean;
}

export interface ExecutionVisit {
  stepId: string;
  type: StepType;
  status: VisitStatus;
  attempts: number;
  startedAt: Date;
  completedAt: Date | null;
  dueAt: Date | null;
  output: Record<string, unknown> | null;
  error: string | null;
}

export interface WorkflowRef {
  projectId: string;
  workflowId: string;
}

const COLUMNS = sql.raw(`id, workflow_id AS "workflowId", contact_id AS "contactId",
  (SELECT c.email FROM contacts c WHERE c.id = executions.contact_id AND c.project_id = executions.project_id) AS "contactEmail", status,
  current_step_id AS "currentStepId", exit_reason AS "exitReason", error, context, event, event_name AS "eventName", sandbox,
  started_at AS "startedAt", completed_at AS "completedAt",
  NOT EXISTS (SELECT FROM outbox o WHERE o.ref_id = executions.id AND o.kind = 'execution.start') AS begun`);

/** Lists executions of a workflow, newest first. `total` is counted only on the first page and is 0 on later pages. */
export async function listExecutions(
  db: Db,
  p: WorkflowRef &
    PageRequest & {
      status?: ExecutionStatus | undefined;
      contactId?: string | undefined;
      sandbox?: boolean | undefined;
    },
): Promise<Page<Execution> & { total: number }> {
  const found = sql`project_id = ${p.projectId} AND workflow_id = ${p.workflowId}
    ${p.status ? sql`AND status = ${p.status}` : sql``} ${p.contactId ? sql`AND contact_id = ${p.contactId}` : sql``}
    ${p.sandbox === undefined ? sql`` : sql`AND sandbox = ${p.sandbox}`}`;
  const { rows } = await sql<Execution>`
    SELECT ${COLUMNS} FROM executions WHERE ${found} AND ${afterCursorSql(p.cursor)} ORDER BY id DESC LIMIT ${p.limit + 1}
  `.execute(db);
  const page = toPage(
    rows,
    p.limit,
    (row) => row,
    (row) => countResponseBytes(row) + countResponseBytes([row.context, row.event]),
  );
  return { ...page, total: p.cursor === undefined ? await countExecutions(db, found) : 0 };
}

async function countExecutions(db: Db, found: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ total: number }>`SELECT count(*) AS total FROM executions WHERE ${found}`.execute(db);
  return rows[0]?.total ?? 0;
}

/**
 * Returns one execution with its visits.
 * @throws AppError NOT_FOUND
 */
export async function getExecution(
  db: Db,
  p: WorkflowRef & { executionId: string },
): Promise<Execution & { steps: ExecutionVisit[] }> {
  const { rows } = await sql<Execution>`
    SELECT ${COLUMNS} FROM executions
    WHERE project_id = ${p.projectId} AND workflow_id = ${p.workflowId} AND id = ${p.executionId}
  `.execute(db);
  const execution = rows[0];
  if (!execution) throw new AppError('NOT_FOUND');
  const visits = await sql<ExecutionVisit>`
    SELECT step_id AS "stepId", type, status, attempts, started_at AS "startedAt", completed_at AS "completedAt",
      due_at AS "dueAt", output, error
    FROM execution_steps WHERE execution_id = ${p.executionId} ORDER BY visit
  `.execute(db);
  return { ...execution, steps: visits.rows };
}

/** Returns the id of an execution's workflow, or null if the execution does not exist. */
export async function findWorkflowIdOfExecution(
  db: Db,
  p: { projectId: string; executionId: string },
): Promise<string | null> {
  const row = await db
    .selectFrom('executions')
    .select('workflow_id')
    .where('project_id', '=', p.projectId)
    .where('id', '=', p.executionId)
    .executeTakeFirst();
  return row?.workflow_id ?? null;
}

/**
 * Cancels one active execution. After the commit, pass the returned rows to the outbox's `wake`.
 * @throws AppError NOT_FOUND; CONFLICT, with the status, for an execution that has ended
 */
export async function cancelExecution(trx: Trx, p: WorkflowRef & { executionId: string }): Promise<OutboxRow[]> {
  const where = sql<boolean>`workflow_id = ${p.workflowId} AND id = ${p.executionId}`;
  const { ids, outbox } = await endExecutions(trx, {
    projectId: p.projectId,
    where,
    status: 'CANCELLED',
    reason: 'cancelled',
  });
  if (ids.length > 0) return outbox;
  const { status } = await getExecution(trx, p);
  throw new AppError('CONFLICT', {
    message: `The execution has ended: it is ${status}.`,
    details: { status },
    suggestion: 'Nothing is left to cancel. Start a new execution if the contact should enter again.',
  });
}

/** Cancels all active executions of a workflow. */
export async function cancelAllExecutions(
  trx: Trx,
  p: WorkflowRef,
): Promise<{ cancelled: number; outbox: OutboxRow[] }> {
  const where = sql<boolean>`workflow_id = ${p.workflowId}`;
  const { ids, outbox } = await endExecutions(trx, {
    projectId: p.projectId,
    where,
    status: 'CANCELLED',
    reason: 'cancelled',
  });
  return { cancelled: ids.length, outbox };
}
