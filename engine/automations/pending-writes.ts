import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { recordTimerEnds } from '../../db/executions/timer-seconds.ts';
import type { ExecutionPosition, NewVisit, VisitOutcome } from '../../db/executions/visits.ts';
import { isOwnedBySql } from '../../db/owned-by.ts';
import { prepared } from '../../db/prepared.ts';
import type { SandboxState } from '../../rules/executions/run.ts';
import { deleteWaits, insertWaits, type NewWait, type WaitRef } from './waits.ts';
import type { WalkStop } from './walk.ts';

/** The SQL condition that is true if the execution would wait at a step that was deleted. */
const GONE = sql`(u.status = 'WAITING' AND u.step_id <> ALL (ARRAY(SELECT id FROM there)))`;

/**
 * Changes to executions that are not written yet. One object collects the changes of many executions, so that a few
 * statements write hundreds of executions.
 */
export interface PendingWrites {
  /** The results of visits that end. A visit that has already ended does not change. */
  closed: VisitOutcome[];
  visits: NewVisit[];
  waits: NewWait[];
  passedWaits: WaitRef[];
  /** The new positions of executions, at most one for each execution. */
  positions: ExecutionPosition[];
  /** The pauses that executions reach: a DELAY or a WAIT_FOR_EVENT. */
  pauses: Pause[];
  /** The new state of sandbox executions. */
  runs: Map<string, SandboxState>;
}

interface Pause {
  executionId: string;
  visit: NewVisit;
  wait: NewWait | undefined;
  stop: WalkStop;
  /** Whether Temporal sets a new timer for the pause. A skipped pause has no timer. */
  hasTimer: boolean;
}

export function createPendingWrites(): PendingWrites {
  return { closed: [], visits: [], waits: [], passedWaits: [], positions: [], pauses: [], runs: new Map() };
}

/**
 * Writes the collected changes, in the transaction that has locked the contacts. May change the results of the walks
 * (`stop.next`): an execution at a step that was deleted in the meantime ends. Read the results only after this call.
 */
export async function savePendingWrites(trx: Trx, p: { projectId: string; pending: PendingWrites }): Promise<void> {
  const { projectId, pending } = p;
  const { pauses } = pending;
  await recordTimerEnds(trx, {
    projectId,
    ends: pauses.flatMap(({ visit, hasTimer }) => (hasTimer && visit.dueAt) || []),
  });
  let endedIds = new Set<string>();
  if (pending.closed.length + pending.visits.length + pending.positions.length > 0) {
    endedIds = await saveVisits(trx, { projectId, pending });
  }
  for (const { executionId, stop } of pauses) {
    if (endedIds.has(executionId)) stop.next = { kind: 'end', status: 'EXITED', reason: 'step_deleted' };
  }
  await saveRuns(trx, { projectId, runs: pending.runs });
  await deleteWaits(trx, { projectId, waits: pending.passedWaits });
  const waits = pending.waits.filter((wait) => !endedIds.has(wait.executionId));
  await insertWaits(trx, { projectId, waits });
}

async function saveRuns(trx: Trx, p: { projectId: string; runs: Map<string, SandboxState> }): Promise<void> {
  for (const [id, run] of p.runs) {
    await trx
      .updateTable('executions')
      .set({ run: JSON.stringify(run) })
      .where('id', '=', id)
      .where('project_id', '=', p.projectId)
      .execute();
  }
}

/**
 * Writes ended visits, new visits and positions in one statement. The row of an execution that has already ended does
 * not change, for example after a cancellation. The check for this is written so that Postgres cannot use the index of
 * open executions, which may contain nearly all executions (see `isOwnedBySql`).
 * Locks the steps at which executions will wait, so that no other transaction deletes the steps at the same time. A
 * deletion ends every execution at the step. An execution that arrives later finds no step, so this function ends it.
 * An execution that arrives at an effect needs no lock, because the activity of the effect checks again whether the
 * step exists.
 * @returns the ids of executions whose step was deleted
 */
async function saveVisits(trx: Trx, p: { projectId: string; pending: PendingWrites }): Promise<Set<string>> {
  const { projectId } = p;
  const { closed, visits, positions } = p.pending;
  const waitedAt = positions.flatMap(({ status, stepId }) => (status === 'WAITING' && stepId !== null ? stepId : []));
  const { rows } = await prepared<{ id: string; gone: boolean }>`
    WITH there AS MATERIALIZED (
      SELECT id FROM workflow_steps
      WHERE id = ANY(${[...new Set(waitedAt)]}::uuid[]) AND ${isOwnedBySql('project_id', projectId)} ORDER BY id FOR KEY SHARE
    ), closed AS (
      UPDATE execution_steps s SET status = u.status, completed_at = now(), error = u.error,
        output = coalesce(u.output, s.output), attempts = u.attempts
      FROM unnest(${closed.map((o) => o.executionId)}::uuid[], ${closed.map((o) => o.visit)}::int[],
        ${closed.map((o) => o.status)}::text[], ${closed.map((o) => o.error ?? null)}::text[],
        ${closed.map((o) => toJson(o.output))}::jsonb[], ${closed.map((o) => o.attempts ?? 1)}::int[])
        AS u (execution_id, visit, status, error, output, attempts)
      WHERE s.execution_id = u.execution_id AND s.visit = u.visit AND ${isOwnedBySql('s.project_id', projectId)} AND s.status IN ('RUNNING', 'WAITING')
    ), come AS (
      INSERT INTO execution_steps
        (project_id, execution_id, visit, step_id, type, status, attempts, due_at, output, error, completed_at)
      SELECT ${projectId}::uuid, u.execution_id, u.visit, u.step_id, u.type, CASE WHEN ${GONE} THEN 'CANCELLED' ELSE u.status END,
        u.attempts, u.due_at, u.output, u.error, CASE WHEN u.status NOT IN ('RUNNING', 'WAITING') OR ${GONE} THEN now() END
      FROM unnest(${visits.map((v) => v.executionId)}::uuid[], ${visits.map((v) => v.visit)}::int[], ${visits.map((v) => v.stepId)}::uuid[], ${visits.map((v) => v.type)}::text[],
        ${visits.map((v) => v.status)}::text[], ${visits.map((v) => (v.status === 'RUNNING' ? 0 : 1))}::int[],
        ${visits.map((v) => v.dueAt ?? null)}::timestamptz[], ${visits.map((v) => toJson(v.output))}::jsonb[],
        ${visits.map((v) => v.error ?? null)}::text[])
        AS u (execution_id, visit, step_id, type, status, attempts, due_at, output, error)
    )
    UPDATE executions e SET visit = u.visit, current_step_id = CASE WHEN ${GONE} THEN NULL ELSE u.step_id END,
      status = CASE WHEN ${GONE} THEN 'EXITED' ELSE u.status END,
      exit_reason = CASE WHEN ${GONE} THEN 'step_deleted' ELSE u.reason END,
      error = coalesce(u.error, e.error), laps = coalesce(u.laps, e.laps),
      completed_at = CASE WHEN u.status NOT IN ('RUNNING', 'WAITING') OR ${GONE} THEN now() END
    FROM unnest(${positions.map((p) => p.executionId)}::uuid[], ${positions.map((p) => p.visit)}::int[],
      ${positions.map((p) => p.stepId)}::uuid[], ${positions.map((p) => p.status)}::text[],
      ${positions.map((p) => p.reason ?? null)}::text[], ${positions.map((p) => p.error ?? null)}::text[],
      ${positions.map((p) => toJson(p.laps))}::jsonb[])
      AS u (execution_id, visit, step_id, status, reason, error, laps)
    WHERE e.id = u.execution_id AND ${isOwnedBySql('e.project_id', projectId)} AND (e.completed_at IS NULL) IS TRUE
    RETURNING e.id, ${GONE} AS gone
  `.execute(trx);
  return new Set(rows.flatMap(({ id, gone }) => (gone ? id : [])));
}

function toJson(value: object | null | undefined): string | null {
  return value ? JSON.stringify(value) : null;
}
