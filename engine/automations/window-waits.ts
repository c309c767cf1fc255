import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { CLOCK_COLUMNS, type ClockRow } from '../../db/contacts/clock.ts';
import { recordTimerEnds } from '../../db/executions/timer-seconds.ts';
import { wasAdvancedSql } from '../../db/executions/visits.ts';
import { isOwnedBySql } from '../../db/owned-by.ts';
import { prepared } from '../../db/prepared.ts';
import { findWindowOpening } from '../../rules/campaigns/gate.ts';
import type { Next } from '../../rules/executions/execution.ts';
import { computeNextForEffect } from './next.ts';
import type { EffectPosition } from './resume.ts';

/**
 * Makes steps that are about to send MARKETING messages wait until the project's sending window opens. The wait is a
 * pause at the same step. When the timer of the pause ends, the step runs again. A sandbox with `skipDelays` does not
 * wait. The caller has locked the contacts.
 * @returns `waits`: the next position of each waiting execution, by the execution's id; executions that may send now
 * are absent. `advanced`: the ids of executions that a user has moved past the window
 */
export async function startWindowWaits(
  trx: Trx,
  p: { projectId: string; steps: EffectPosition[] },
): Promise<{ waits: Map<string, Next>; advanced: ReadonlySet<string> }> {
  const { projectId, steps } = p;
  const now = Date.now();
  const waits: { position: EffectPosition; dueAt: Date }[] = [];
  const clocks = steps.length === 0 ? new Map<string, ClockRow>() : await findClocks(trx, p);
  const advanced = clocks.size === 0 ? new Set<string>() : await findAdvanced(trx, p);
  for (const position of steps) {
    const { id, run } = position.execution;
    if (advanced.has(id) || run?.skipDelays) continue;
    const clock = clocks.get(position.execution.contactId);
    const dueAt = clock && findWindowOpening(clock, now);
    if (dueAt) waits.push({ position, dueAt });
  }
  if (waits.length === 0) return { waits: new Map(), advanced };
  await recordTimerEnds(trx, { projectId, ends: waits.map(({ dueAt }) => dueAt) });
  await saveWaits(trx, { projectId, waits });
  const nexts = waits.map(({ position: { execution, step, next }, dueAt }): [string, Next] => [
    execution.id,
    computeNextForEffect(step, { visit: next.visit, dueAt }),
  ]);
  return { waits: new Map(nexts), advanced };
}

/**
 * Ends the wait of a step for the sending window, because the step is about to run again. The caller has locked the
 * contact.
 * @param p.byHand whether a user has moved the step past the window. The visit then stores `advanced`, so that the next
 * check of the window does not stop the step again
 */
export async function endWindowWait(
  trx: Trx,
  p: { projectId: string; executionId: string; visit: number; byHand?: boolean },
): Promise<void> {
  const output = p.byHand ? sql`coalesce(output, '{}') || '{"advanced": true}'` : sql`output`;
  await sql`
    WITH visit AS (
      UPDATE execution_steps SET status = 'RUNNING', due_at = NULL, output = ${output}
      WHERE execution_id = ${p.executionId} AND visit = ${p.visit} AND project_id = ${p.projectId} AND status = 'WAITING')
    UPDATE executions SET status = 'RUNNING' WHERE id = ${p.executionId} AND project_id = ${p.projectId} AND completed_at IS NULL
  `.execute(trx);
}

/**
 * Finds executions that a user has moved past the sending window. These executions send even while the window is
 * closed.
 */
async function findAdvanced(trx: Trx, p: { projectId: string; steps: EffectPosition[] }): Promise<Set<string>> {
  const { rows } = await prepared<{ id: string }>`
    SELECT v.execution_id AS id FROM unnest(${p.steps.map(({ execution }) => execution.id)}::uuid[], ${p.steps.map(({ next }) => next.visit)}::int[]) AS u (id, visit)
    JOIN execution_steps v ON v.execution_id = u.id AND v.visit = u.visit AND ${isOwnedBySql('v.project_id', p.projectId)}
    WHERE ${wasAdvancedSql(sql`v`)}
  `.execute(trx);
  return new Set(rows.map((row) => row.id));
}

/**
 * Finds the time zones of contacts and their project, and the project's sending window, by contact id. Returns an empty
 * map if the project has no sending window.
 */
async function findClocks(trx: Trx, p: { projectId: string; steps: EffectPosition[] }): Promise<Map<string, ClockRow>> {
  const contactIds = p.steps.map(({ execution }) => execution.contactId);
  const { rows } = await prepared<ClockRow & { id: string }>`
    SELECT c.id, ${CLOCK_COLUMNS} FROM projects p JOIN contacts c ON c.id = ANY(${contactIds}::uuid[]) AND ${isOwnedBySql('c.project_id', p.projectId)}
    WHERE p.id = ${p.projectId} AND p.sending_window IS NOT NULL
  `.execute(trx);
  return new Map(rows.map(({ id, ...clock }) => [id, clock]));
}

async function saveWaits(
  trx: Trx,
  p: { projectId: string; waits: { position: EffectPosition; dueAt: Date }[] },
): Promise<void> {
  await sql`
    WITH u AS (
      SELECT * FROM unnest(${p.waits.map(({ position }) => position.execution.id)}::uuid[], ${p.waits.map(({ position }) => position.next.visit)}::int[],
        ${p.waits.map(({ dueAt }) => dueAt)}::timestamptz[]) AS u (execution_id, visit, due_at)
    ), visits AS (
      UPDATE execution_steps s SET status = 'WAITING', due_at = u.due_at FROM u
      WHERE s.execution_id = u.execution_id AND s.visit = u.visit AND s.project_id = ${p.projectId} AND s.status = 'RUNNING')
    UPDATE executions e SET status = 'WAITING' FROM u
    WHERE e.id = u.execution_id AND e.project_id = ${p.projectId} AND e.completed_at IS NULL
  `.execute(trx);
}
