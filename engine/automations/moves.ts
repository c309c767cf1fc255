import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { createEndSignal } from '../../db/executions/end-executions.ts';
import type { WorkflowRef } from '../../db/executions/executions.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import { readSqlState } from '../../db/postgres-errors.ts';
import { inSavepoint } from '../../db/transaction.ts';
import { AppError, createFieldError } from '../../rules/errors.ts';
import { LOOP_CODE, MAX_VISITS } from '../../rules/executions/loop-guard.ts';
import type { Branch } from '../../rules/executions/steps/definition.ts';
import { STEPS } from '../../rules/executions/steps/registry.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { createRealEnvironment } from './environment.ts';
import { type LockedExecution, lockExecutions } from './locked-executions.ts';
import { endPauseEarly } from './pause-end.ts';
import { createPendingWrites, savePendingWrites } from './pending-writes.ts';
import { walk } from './walk.ts';
import { endWindowWait } from './window-waits.ts';

const UNIQUE_VIOLATION = '23505';

export type ExecutionRef = WorkflowRef & { executionId: string };

/**
 * Moves an execution past its current pause, or past the sending window for which its effect waits. Stores the new
 * position in Postgres, in the caller's transaction. The returned outbox row causes a signal to the Temporal workflow.
 * The signal only wakes the workflow, which then reads the new position. If the execution has ended by this move, the
 * outbox row ends the workflow instead.
 * @param p.branch the branch of a WAIT_FOR_EVENT; `timeout` if absent
 * @throws AppError NOT_FOUND; CONFLICT when the execution has ended or is running a step; VALIDATION_ERROR for a branch
 * that the step does not have
 */
export async function advanceExecution(
  trx: Trx,
  p: ExecutionRef & { branch?: Branch | undefined },
): Promise<OutboxRow[]> {
  const { projectId, executionId } = p;
  const locked = await lockExecution(trx, p);
  const { execution, current, graph } = locked;
  if (execution.completedAt) {
    throw createConflictError(
      `The execution has ended: it is ${execution.status}.`,
      execution.status,
      'Start a new execution with POST /v1/workflows/{id}/executions.',
    );
  }
  if (current?.status !== 'WAITING') {
    throw createConflictError(
      'The execution runs a step and waits for nothing.',
      execution.status,
      'Repeat the request while currentStep is waiting; GET the execution shows its steps.',
    );
  }
  const { visit, type } = current;
  assertBranchExists(
    STEPS[type].kind === 'pause' ? STEPS[type].branches(graph.steps.get(current.stepId)?.config ?? {}) : [],
    p.branch,
  );
  if (STEPS[type].kind === 'effect') await endWindowWait(trx, { projectId, executionId, visit, byHand: true });
  else {
    const pending = createPendingWrites();
    const stop = await endPauseEarly(createRealEnvironment(trx), locked, { branch: p.branch, pending });
    await savePendingWrites(trx, { projectId, pending });
    if (stop.next.kind === 'end') return enqueue(trx, [createEndSignal({ projectId, executionId, ...stop.next })]);
  }
  return enqueue(trx, [{ projectId, kind: 'execution.event', refId: executionId, payload: { visit } }]);
}

/**
 * Retries a FAILED execution from the step that failed, in the caller's transaction. The execution keeps its id and
 * gets a new visit, and Temporal starts a new run. The new visit uses the current contact and the current workflow.
 * @throws AppError NOT_FOUND; CONFLICT when the execution has not failed, has repeated its steps too often, or its step
 * was deleted, or when the contact has another open execution of the workflow
 */
export async function retryExecution(trx: Trx, p: ExecutionRef): Promise<OutboxRow[]> {
  const { projectId, executionId } = p;
  const { execution, graph } = await lockExecution(trx, p);
  if (execution.status !== 'FAILED') {
    throw createConflictError(
      `Only a FAILED execution can be retried: this one is ${execution.status}.`,
      execution.status,
      'Start a new execution with POST /v1/workflows/{id}/executions.',
    );
  }
  const { stepId, error } = await reopenFailed(trx, p);
  if (error === LOOP_CODE || execution.visit >= MAX_VISITS) {
    throw createConflictError(
      'The execution repeated its steps too soon or too often, and would do so again.',
      execution.status,
      'Add a DELAY of at least 60 seconds to the loop, then start a new execution.',
    );
  }
  if (stepId === null || !graph.steps.has(stepId)) {
    throw createConflictError(
      'The step that failed was deleted.',
      execution.status,
      'Start a new execution with POST /v1/workflows/{id}/executions.',
    );
  }
  // A user requested the repeated visit, so it does not count for the loop guard.
  if (execution.laps) delete execution.laps.comings[stepId];
  const pending = createPendingWrites();
  const { next } = await walk(createRealEnvironment(trx), { execution, graph, stepId, pending });
  await savePendingWrites(trx, { projectId, pending });
  // Starts a run in Temporal even if the execution has ended at once: the Temporal UI shows the result of the latest
  // run, which would otherwise still be the failure.
  const { workflowId, contactId } = execution;
  return enqueue(trx, [
    {
      projectId,
      kind: 'execution.start',
      refId: executionId,
      payload: { projectId, executionId, next, workflowId, contactId, anew: true },
    },
  ]);
}

async function lockExecution(trx: Trx, p: ExecutionRef): Promise<LockedExecution> {
  const { projectId, workflowId, executionId } = p;
  const locked = await lockExecutions(trx, { projectId, requested: [{ executionId, visit: 0 }] });
  const found = locked.get(executionId);
  if (found?.execution.workflowId !== workflowId) throw new AppError('NOT_FOUND');
  return found;
}

function createConflictError(message: string, status: string, suggestion: string): AppError {
  return new AppError('CONFLICT', { message, details: { status }, suggestion });
}

function assertBranchExists(choices: readonly (Branch | null)[], branch: Branch | undefined): void {
  if (branch === undefined || choices.includes(branch)) return;
  const namedBranches = choices.filter((choice) => choice !== null);
  const message = namedBranches.length === 0 ? 'the step has no branches' : `one of ${namedBranches.join(', ')}`;
  throw createFieldError('branch', message, 'invalid_enum_value');
}

/**
 * Changes a FAILED execution back to RUNNING. The unique index `executions_open_once` refuses this if the contact has
 * another open execution of the workflow. Deletes the outbox rows of the failed run first, because a queued cancel
 * would end the new run.
 */
async function reopenFailed(
  trx: Trx,
  { projectId, executionId }: ExecutionRef,
): Promise<{ stepId: string | null; error: string | null }> {
  await sql`DELETE FROM outbox WHERE ref_id = ${executionId} AND kind IN ('execution.cancel', 'execution.ended', 'execution.start')`.execute(
    trx,
  );
  try {
    const { rows } = await inSavepoint(trx, () =>
      sql<{ stepId: string | null; error: string | null }>`
        UPDATE executions SET status = 'RUNNING', exit_reason = NULL, error = NULL, completed_at = NULL
        WHERE project_id = ${projectId} AND id = ${executionId}
        RETURNING current_step_id AS "stepId", old.error AS error
      `.execute(trx),
    );
    return rows[0] ?? { stepId: null, error: null };
  } catch (error) {
    if (readSqlState(error) !== UNIQUE_VIOLATION) throw error;
    throw createConflictError(
      'The contact has an active execution of this workflow.',
      'FAILED',
      'Wait for that execution or cancel it, then retry this one.',
    );
  }
}
