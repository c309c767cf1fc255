import { sql } from 'kysely';
import { endExecutions } from '../../db/executions/end-executions.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { WorkflowPosition } from '../../engine/automations/catch-up.ts';
import {
  type LostExecution,
  listOpenExecutions,
  type OpenExecution,
  restartLostExecutions,
} from '../../engine/automations/lost-executions.ts';
import type { ExecutionEnd, Next } from '../../rules/executions/execution.ts';
import { FAILURE_CODES } from '../../rules/executions/failure-codes.ts';
import { groupBy } from '../../rules/filters/group-by.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { ROW_MISSING } from '../../rules/row-missing.ts';
import { findPositionAhead } from '../../temporal/run-histories.ts';
import { isOpenStatus, type LastRun } from '../../temporal/run-states.ts';
import type { RecoveryDeps, RecoveryTurn } from './recovery.ts';
import { reportRecoveryFailure } from './recovery-failure.ts';

/** The number of open executions that are read and compared with Temporal at a time. */
const PAGE = 5_000;
/**
 * The number of executions that one transaction repairs. The number is limited, because the transaction locks the
 * contacts of these executions.
 */
const CHUNK = 200;

type EndStatus = 'CANCELLED' | 'FAILED' | 'EXITED' | 'COMPLETED';

/** The repair of an execution whose workflow is not running. `was` is the status of the last run. */
type Repair = { execution: LostExecution; was: string } & (
  | { kind: 'restart'; anew: boolean }
  | { kind: 'end'; status: EndStatus; reason: string | null; error?: string }
);

/** How an execution ends for each status of its closed Temporal run. Users read the messages in `error`. */
const ENDS: Partial<Record<string, { status: EndStatus; reason: string; error: string }>> = {
  TERMINATED: { status: 'CANCELLED', reason: 'cancelled', error: 'An operator terminated the execution in Temporal.' },
  CANCELLED: { status: 'CANCELLED', reason: 'cancelled', error: 'An operator cancelled the execution in Temporal.' },
  FAILED: {
    status: 'FAILED',
    reason: 'temporal_failed',
    error: 'The execution failed in Temporal; its history there says why.',
  },
  TIMED_OUT: { status: 'FAILED', reason: 'temporal_timed_out', error: 'The execution timed out in Temporal.' },
};

/**
 * Repairs each open execution that has no running workflow. If an operator cancelled or terminated the workflow in
 * Temporal, the execution becomes CANCELLED, because the operator wanted it to stop. If the workflow failed or timed
 * out, the execution becomes FAILED. In all other cases, a new workflow continues at the execution's position: Temporal
 * does not know the workflow, lists it as Completed, or the workflow failed because the row was missing. The exception
 * is a workflow that performed effects beyond the row's position. The execution then ends as that workflow did, or
 * continues at that workflow's position.
 */
export async function recoverExecutions(deps: RecoveryDeps, turn: RecoveryTurn): Promise<string | null> {
  let after = turn.cursor ?? undefined;
  for (;;) {
    const page = await listOpenExecutions(deps.db, { after, limit: PAGE });
    const toRepair = await findRepairs(deps, page);
    for (const [projectId, repairs] of groupBy(toRepair, ({ execution }) => execution.projectId)) {
      for (let at = 0; at < repairs.length; at += CHUNK) {
        // If the repair of one project fails, the other projects are still repaired.
        await repair(deps, { projectId, repairs: repairs.slice(at, at + CHUNK) }).catch((error: unknown) =>
          reportRecoveryFailure(deps, { projectId }, error),
        );
      }
    }
    after = page.at(-1)?.id;
    if (page.length < PAGE || after === undefined) return null;
    if (!turn.mayContinue(after)) return after;
  }
}

async function findRepairs({ lifecycle }: RecoveryDeps, page: OpenExecution[]): Promise<Repair[]> {
  const { runs, names } = lifecycle;
  const ids = await runs.findNotRunning(page.map(({ id }) => id));
  if (ids.length === 0) return [];
  const last = await runs.findLast(ids.map((id) => names.execution(id)));
  const notRunningIds = new Set(ids);
  const repairs: Repair[] = [];
  for (const execution of page) {
    if (!notRunningIds.has(execution.id)) continue;
    const run = last.get(names.execution(execution.id));
    const repairOfRow = await chooseRepair({ lifecycle }, execution, run);
    if (repairOfRow) repairs.push(repairOfRow);
  }
  return repairs;
}

async function chooseRepair(
  { lifecycle }: Pick<RecoveryDeps, 'lifecycle'>,
  execution: OpenExecution,
  run: LastRun | undefined,
): Promise<Repair | undefined> {
  if (!run) return { kind: 'restart', anew: false, execution, was: 'unknown to Temporal' };
  const { status: was, runId } = run;
  // The workflow is running after all, because Temporal's list of running workflows was a second or two old.
  if (isOpenStatus(was)) return undefined;
  const restart: Repair = { kind: 'restart', anew: true, execution, was };
  const end = ENDS[was];
  if (was !== 'COMPLETED' && was !== 'FAILED') return end ? { kind: 'end', ...end, execution, was } : restart;
  const history = await lifecycle.runs.readRunHistory({ workflowId: lifecycle.names.execution(execution.id), runId });
  const { failureType } = history;
  // A workflow fails with ROW_MISSING if the execution's row is missing. The row exists now.
  if (was === 'FAILED' && failureType !== ROW_MISSING) {
    const code = FAILURE_CODES.find((known) => known === failureType);
    return end && { kind: 'end', ...end, ...(code && { reason: code }), execution, was };
  }
  const next = findPositionAhead(history, execution.visit);
  if (!next) return restart;
  const repairOfRow =
    next.kind === 'end'
      ? { ...createEndRepair(next), execution }
      : { ...restart, execution: { ...execution, ahead: toWorkflowPosition(next) } };
  return { ...repairOfRow, was: `${was}, ahead of the record` };
}

/** Converts a position from a run's history. Histories of earlier releases have positions without a step. */
function toWorkflowPosition(next: Exclude<Next, ExecutionEnd>): WorkflowPosition | undefined {
  const { visit, stepId } = next;
  const dueAt = next.kind === 'delay' ? next.dueAt : next.kind === 'wait' ? next.deadlineAt : null;
  return stepId === undefined ? undefined : { visit, stepId, ...(dueAt !== null && { dueAt }) };
}

/**
 * Returns the repair that ends an execution in the same way as its workflow. Here the row in Postgres is older than the
 * workflow's history, so continuing the execution could repeat effects.
 */
function createEndRepair({ status, reason }: ExecutionEnd) {
  return { kind: 'end' as const, status: status as EndStatus, reason };
}

async function repair(
  { db, outbox, log }: RecoveryDeps,
  { projectId, repairs }: { projectId: string; repairs: Repair[] },
): Promise<void> {
  const queued: OutboxRow[] = [];
  await inTransaction(db, async (trx) => {
    for (const anew of [false, true]) {
      const executions = repairs.flatMap((r) => (r.kind === 'restart' && r.anew === anew ? r.execution : []));
      if (executions.length > 0) queued.push(...(await restartLostExecutions(trx, { projectId, executions, anew })));
    }
    for (const r of repairs) {
      if (r.kind !== 'end') continue;
      const where = sql<boolean>`id = ${r.execution.id}`;
      const { status, reason, error } = r;
      const end = { status, reason, isOver: true as const, ...(error !== undefined && { error }) };
      await endExecutions(trx, { projectId, where, ...end });
    }
  });
  outbox.wake(queued);
  for (const r of repairs) {
    const ids = { projectId, executionId: r.execution.id, visit: r.execution.visit };
    const done = r.kind === 'restart' ? 'restarted at its current step' : `ended as ${r.status}`;
    log.warn({ ...ids, workflow: r.was, done }, 'an execution had no running workflow');
  }
}
