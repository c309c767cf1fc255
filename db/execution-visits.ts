import { type Kysely, sql, type Transaction } from 'kysely';
import type { ExecutionStatus, StepType } from '../domain/execution.ts';
import type { Database } from './schema.ts';

export type VisitStatus = 'RUNNING' | 'WAITING' | 'COMPLETED' | 'SKIPPED' | 'FAILED' | 'CANCELLED';

export interface Visit {
  visit: number;
  stepId: string;
  type: StepType;
  status: VisitStatus;
  startedAt: Date;
  dueAt: Date | null;
}

export interface NewVisit {
  executionId: string;
  projectId: string;
  visit: number;
  stepId: string;
  type: StepType;
  status: VisitStatus;
  dueAt?: Date | null;
  output?: Record<string, unknown> | null;
  error?: string | null;
}

/** Records that an execution has come to a step; a step that is passed at once is recorded as completed. */
export async function insertVisit(trx: Transaction<Database>, v: NewVisit): Promise<void> {
  const open = v.status === 'RUNNING' || v.status === 'WAITING';
  await sql`
    INSERT INTO execution_steps
      (execution_id, visit, project_id, step_id, type, status, attempts, due_at, output, error, completed_at)
    VALUES (${v.executionId}, ${v.visit}, ${v.projectId}, ${v.stepId}, ${v.type}, ${v.status},
      ${v.status === 'RUNNING' ? 0 : 1}, ${v.dueAt ?? null},
      ${v.output ? JSON.stringify(v.output) : null}::jsonb, ${v.error ?? null}, CASE WHEN ${!open} THEN now() END)
  `.execute(trx);
}

export interface VisitOutcome {
  executionId: string;
  visit: number;
  status: 'COMPLETED' | 'SKIPPED' | 'FAILED';
  output?: Record<string, unknown> | null;
  error?: string | null;
  /** Tries that the effect took; 1 unless the provider or endpoint refused for a while. */
  attempts?: number;
}

/** Closes a visit. False when it was closed before: what would follow has been decided already. */
export async function completeVisit(trx: Transaction<Database>, o: VisitOutcome): Promise<boolean> {
  const { numAffectedRows } = await sql`
    UPDATE execution_steps SET status = ${o.status}, completed_at = now(), error = ${o.error ?? null},
      output = coalesce(${o.output ? JSON.stringify(o.output) : null}::jsonb, output), attempts = ${o.attempts ?? 1}
    WHERE execution_id = ${o.executionId} AND visit = ${o.visit} AND status IN ('RUNNING', 'WAITING')
  `.execute(trx);
  return (numAffectedRows ?? 0n) > 0n;
}

/** Notes a try that failed for now, so that the execution's detail shows it before the last word is said. */
export async function noteAttempt(
  trx: Transaction<Database>,
  a: { executionId: string; visit: number; attempts: number; error: string },
): Promise<void> {
  await sql`
    UPDATE execution_steps SET attempts = ${a.attempts}, error = ${a.error}
    WHERE execution_id = ${a.executionId} AND visit = ${a.visit} AND status = 'RUNNING'
  `.execute(trx);
}

export async function findVisit(
  trx: Transaction<Database>,
  executionId: string,
  visit: number,
): Promise<Visit | undefined> {
  const { rows } = await sql<Visit>`
    SELECT visit, step_id AS "stepId", type, status, started_at AS "startedAt", due_at AS "dueAt"
    FROM execution_steps WHERE execution_id = ${executionId} AND visit = ${visit}
  `.execute(trx);
  return rows[0];
}

/** Where an execution stands after a walk; an ended one gets its end's instant and reason. */
export interface ExecutionPosition {
  executionId: string;
  visit: number;
  stepId: string | null;
  status: ExecutionStatus;
  reason?: string | null;
  error?: string | null;
}

/** Moves an execution on. An execution that has ended stays as it is (a cancel that came first wins). */
export async function moveExecution(trx: Transaction<Database>, p: ExecutionPosition): Promise<boolean> {
  const ended = p.status !== 'RUNNING' && p.status !== 'WAITING';
  const { numAffectedRows } = await sql`
    UPDATE executions SET visit = ${p.visit}, current_step_id = ${p.stepId}, status = ${p.status},
      exit_reason = ${p.reason ?? null}, error = ${p.error ?? null}, completed_at = CASE WHEN ${ended} THEN now() END
    WHERE id = ${p.executionId} AND completed_at IS NULL
  `.execute(trx);
  return (numAffectedRows ?? 0n) > 0n;
}

/** Tries of an effect that failed for now, as `noteAttempt` left them; 0 before the first. */
export async function countTries(db: Kysely<Database>, executionId: string, visit: number): Promise<number> {
  const { rows } = await sql<{ attempts: number }>`
    SELECT attempts FROM execution_steps WHERE execution_id = ${executionId} AND visit = ${visit}
  `.execute(db);
  return rows[0]?.attempts ?? 0;
}
