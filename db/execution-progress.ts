import { sql, type Transaction } from 'kysely';
import type { ExecutionPosition, NewVisit, VisitOutcome } from './execution-visits.ts';
import { deleteWaits, insertWaits, type NewWait, type WaitRef } from './execution-waits.ts';
import { ownedBy } from './owned-by.ts';
import type { Database } from './schema.ts';

/** What executions have come to and is not written yet. Walks collect it, so that hundreds cost a few statements. */
export interface Progress {
  /** Open visits that end. One that has ended before stays as it is. */
  closed: VisitOutcome[];
  visits: NewVisit[];
  waits: NewWait[];
  passedWaits: WaitRef[];
  /** At most one an execution. */
  positions: ExecutionPosition[];
}

export function newProgress(): Progress {
  return { closed: [], visits: [], waits: [], passedWaits: [], positions: [] };
}

/** Writes what walks have collected, in the transaction that holds their contacts' locks. */
export async function saveProgress(trx: Transaction<Database>, projectId: string, progress: Progress): Promise<void> {
  if (progress.closed.length + progress.visits.length + progress.positions.length > 0) {
    await saveVisits(trx, projectId, progress);
  }
  await deleteWaits(trx, projectId, progress.passedWaits);
  await insertWaits(trx, projectId, progress.waits);
}

/**
 * One statement for all three. An execution that has ended stays as it is: a cancel that came first wins. That is asked so that no index
 * serves it (see `ownedBy`): open executions may be all there are.
 */
async function saveVisits(
  trx: Transaction<Database>,
  projectId: string,
  { closed, visits, positions }: Progress,
): Promise<void> {
  await sql`
    /* prepared */ WITH closed AS (
      UPDATE execution_steps s SET status = u.status, completed_at = now(), error = u.error,
        output = coalesce(u.output, s.output), attempts = u.attempts
      FROM unnest(${closed.map((o) => o.executionId)}::uuid[], ${closed.map((o) => o.visit)}::int[],
        ${closed.map((o) => o.status)}::text[], ${closed.map((o) => o.error ?? null)}::text[],
        ${closed.map((o) => jsonOf(o.output))}::jsonb[], ${closed.map((o) => o.attempts ?? 1)}::int[])
        AS u (execution_id, visit, status, error, output, attempts)
      WHERE s.execution_id = u.execution_id AND s.visit = u.visit AND ${ownedBy('s.project_id', projectId)} AND s.status IN ('RUNNING', 'WAITING')
    ), come AS (
      INSERT INTO execution_steps
        (project_id, execution_id, visit, step_id, type, status, attempts, due_at, output, error, completed_at)
      SELECT ${projectId}::uuid, u.*, CASE WHEN u.status NOT IN ('RUNNING', 'WAITING') THEN now() END
      FROM unnest(${visits.map((v) => v.executionId)}::uuid[], ${visits.map((v) => v.visit)}::int[], ${visits.map((v) => v.stepId)}::uuid[], ${visits.map((v) => v.type)}::text[],
        ${visits.map((v) => v.status)}::text[], ${visits.map((v) => (v.status === 'RUNNING' ? 0 : 1))}::int[],
        ${visits.map((v) => v.dueAt ?? null)}::timestamptz[], ${visits.map((v) => jsonOf(v.output))}::jsonb[],
        ${visits.map((v) => v.error ?? null)}::text[])
        AS u (execution_id, visit, step_id, type, status, attempts, due_at, output, error)
    )
    UPDATE executions e SET visit = u.visit, current_step_id = u.step_id, status = u.status, exit_reason = u.reason,
      error = u.error, completed_at = CASE WHEN u.status NOT IN ('RUNNING', 'WAITING') THEN now() END
    FROM unnest(${positions.map((p) => p.executionId)}::uuid[], ${positions.map((p) => p.visit)}::int[],
      ${positions.map((p) => p.stepId)}::uuid[], ${positions.map((p) => p.status)}::text[],
      ${positions.map((p) => p.reason ?? null)}::text[], ${positions.map((p) => p.error ?? null)}::text[])
      AS u (execution_id, visit, step_id, status, reason, error)
    WHERE e.id = u.execution_id AND ${ownedBy('e.project_id', projectId)} AND (e.completed_at IS NULL) IS TRUE
  `.execute(trx);
}

function jsonOf(output: Record<string, unknown> | null | undefined): string | null {
  return output ? JSON.stringify(output) : null;
}
