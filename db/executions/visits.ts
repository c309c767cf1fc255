import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ExecutionStatus, VisitStatus } from '../../rules/executions/execution.ts';
import type { LoopGuard } from '../../rules/executions/loop-guard.ts';
import type { StepType } from '../../rules/executions/steps/registry.ts';
import type { Db, Trx } from '../connection.ts';
import { isOwnedBySql } from '../owned-by.ts';
import { prepared } from '../prepared.ts';

export interface Visit {
  visit: number;
  stepId: string;
  type: StepType;
  status: VisitStatus;
  startedAt: Date;
  dueAt: Date | null;
}

/**
 * A visit to the step that an execution has reached. If the execution does not stop at the step, the visit is inserted
 * with its final status.
 */
export interface NewVisit {
  executionId: string;
  visit: number;
  stepId: string;
  type: StepType;
  status: VisitStatus;
  dueAt?: Date | null;
  output?: Record<string, unknown> | null;
  error?: string | null;
}

/** The result with which an open visit ends. */
export interface VisitOutcome {
  executionId: string;
  visit: number;
  status: 'COMPLETED' | 'SKIPPED' | 'FAILED' | 'CANCELLED';
  output?: Record<string, unknown> | null;
  error?: string | null;
  /** Number of attempts of the effect. More than 1 if the provider or endpoint refused temporarily. */
  attempts?: number;
}

/**
 * Records a failed attempt of a step that will make another attempt, so that the dashboard shows the failure before the
 * step ends.
 */
export async function recordFailedAttempt(
  trx: Trx,
  a: { executionId: string; visit: number; attempts: number; error: string },
): Promise<void> {
  await sql`
    UPDATE execution_steps SET attempts = ${a.attempts}, error = ${a.error}
    WHERE execution_id = ${a.executionId} AND visit = ${a.visit} AND status = 'RUNNING'
  `.execute(trx);
}

/** Position and status of an execution after a walk. `reason` and `error` are for an execution that has ended. */
export interface ExecutionPosition {
  executionId: string;
  visit: number;
  stepId: string | null;
  status: ExecutionStatus;
  reason?: string | null;
  error?: string | null;
  laps?: LoopGuard | null;
}

/**
 * Returns the number of failed attempts of an effect, as recorded by `recordFailedAttempt`. 0 before the first attempt.
 */
export async function countFailedAttempts(db: Db, executionId: string, visit: number): Promise<number> {
  const { rows } = await sql<{ attempts: number }>`
    SELECT attempts FROM execution_steps WHERE execution_id = ${executionId} AND visit = ${visit}
  `.execute(db);
  return rows[0]?.attempts ?? 0;
}

/**
 * Returns the branch that a contact took on its last completed visit to a step, in any of its executions. Undefined if
 * the contact has completed no visit to the step. Uses the index `executions_entry` and the visits of each of the
 * contact's executions.
 */
export async function findTakenBranch(
  db: Db,
  { projectId, workflowId, contactId }: { projectId: string; workflowId: string; contactId: string },
  stepId: string,
): Promise<string | undefined> {
  const { rows } = await prepared<{ branch: string | null }>`
    SELECT s.output->>'branch' AS branch FROM executions e JOIN execution_steps s ON s.execution_id = e.id
    WHERE e.workflow_id = ${workflowId} AND e.contact_id = ${contactId} AND ${isOwnedBySql('e.project_id', projectId)}
      AND NOT e.sandbox AND s.step_id = ${stepId} AND s.status = 'COMPLETED'
    ORDER BY e.entry DESC, s.visit DESC LIMIT 1
  `.execute(db);
  return rows[0]?.branch ?? undefined;
}

/** SQL condition that a user has moved the visit past the sending window, so that no window delays it. */
export function wasAdvancedSql(visit: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`${visit}.output->'advanced' IS NOT NULL`;
}
