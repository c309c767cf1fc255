import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { CLOCK_COLUMNS, type ClockRow } from '../../db/contacts/clock.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import { checkWindowGate } from '../../rules/campaigns/gate.ts';
import { hasSideEffect, STEP_TYPES } from '../../rules/executions/steps/registry.ts';
import type { OutboxRow } from '../../rules/outbox.ts';

/**
 * The start of the first page: a step id and an execution id that sort before all others. A page starts after such a
 * pair.
 */
const FROM_START = '00000000-0000-0000-0000-000000000000:00000000-0000-0000-0000-000000000000';

const EFFECT_TYPES = STEP_TYPES.filter(hasSideEffect);

interface WindowWait extends ClockRow {
  stepId: string;
  executionId: string;
  visit: number;
  dueAt: Date;
}

/**
 * Queues signals after a change of the project's sending window. Checks the next `rows` executions that wait for the
 * window, and queues a signal to each execution whose timer ends later than the window now opens. The woken step checks
 * the window itself, so this function changes no execution. An execution that was woken without need waits again. Uses
 * the index `execution_steps_open`.
 * @param p.after the position after which the page starts; null for the first page
 * @returns the position after which the next page starts; null after the last page
 */
export async function wakeWindowPage(
  trx: Trx,
  p: { projectId: string; after: string | null; rows: number },
): Promise<{ after: string | null; outbox: OutboxRow[] }> {
  const { projectId } = p;
  const [stepId, executionId] = (p.after ?? FROM_START).split(':');
  const { rows } = await sql<WindowWait>`
    SELECT s.step_id AS "stepId", s.execution_id AS "executionId", s.visit, s.due_at AS "dueAt", ${CLOCK_COLUMNS}
    FROM projects p JOIN workflow_steps w ON w.project_id = p.id AND w.type = ANY(${EFFECT_TYPES}::text[])
    JOIN execution_steps s ON s.step_id = w.id AND s.project_id = p.id AND s.completed_at IS NULL
    JOIN executions e ON e.id = s.execution_id AND e.project_id = p.id
    JOIN contacts c ON c.id = e.contact_id AND c.project_id = p.id
    WHERE p.id = ${projectId} AND s.status = 'WAITING' AND s.due_at IS NOT NULL
      AND (s.step_id, s.execution_id) > (${stepId}::uuid, ${executionId}::uuid)
    ORDER BY s.step_id, s.execution_id LIMIT ${p.rows}
  `.execute(trx);
  const now = Date.now();
  const early = rows.filter((wait) => findOpeningMs(wait, now) < wait.dueAt.getTime());
  const outbox = await enqueue(
    trx,
    early.map(({ executionId: refId, visit }) => ({
      projectId,
      kind: 'execution.event' as const,
      refId,
      payload: { visit },
    })),
  );
  const last = rows.length < p.rows ? undefined : rows.at(-1);
  return { after: last ? `${last.stepId}:${last.executionId}` : null, outbox };
}

function findOpeningMs(clock: ClockRow, nowMs: number): number {
  const gate = checkWindowGate(clock, nowMs);
  return gate.kind === 'closed' ? gate.notBeforeMs : nowMs;
}
