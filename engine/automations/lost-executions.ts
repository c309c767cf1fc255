import { sql } from 'kysely';
import type { Db, Trx } from '../../db/connection.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import type { ExecutionInput } from '../../rules/executions/execution.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { resumeExecutions, type Standing } from './resume.ts';
import { findWaitEvents } from './waits.ts';

/** An execution that has not ended, with the visit at which it stands. */
export interface OpenExecution {
  projectId: string;
  id: string;
  visit: number;
}

/**
 * Executions of all projects that should have a workflow: not ended, and handed to Temporal. By the index
 * executions_open, in the order of their ids, which is that of their starts.
 */
export async function listOpenExecutions(
  db: Db,
  p: { after: string | undefined; limit: number },
): Promise<OpenExecution[]> {
  const { rows } = await sql<OpenExecution>`
    SELECT project_id AS "projectId", id, visit FROM executions e
    WHERE completed_at IS NULL AND ${p.after === undefined ? sql`true` : sql`id > ${p.after}`}
      AND NOT EXISTS (SELECT FROM outbox o WHERE o.kind = 'execution.start' AND o.ref_id = e.id)
    ORDER BY id LIMIT ${p.limit}
  `.execute(db);
  return rows;
}

/**
 * Queues the start of executions of a project that Temporal does not know any more, from where each stands: at its
 * effect, its DELAY until the instant that was computed when it began, its wait until the same deadline. A wait whose
 * event came while nobody listened is over at once. One that has ended meanwhile is left alone; should its workflow be
 * there after all, that goes on.
 * @param p.anew whether Temporal has a run that is over
 */
export async function restartExecutions(
  trx: Trx,
  p: { projectId: string; executions: OpenExecution[]; anew?: boolean },
): Promise<OutboxRow[]> {
  const { projectId, executions } = p;
  const inputs = executions.map(({ id, visit }) => ({ projectId, executionId: id, visit }));
  const standings = await resumeExecutions(trx, { projectId, inputs });
  const starts = standings.flatMap(startOf);
  const satisfied = await findWaitEvents(trx, {
    projectId,
    waits: starts.map(({ executionId, next }) => ({ executionId, visit: next.visit })),
  });
  return enqueue(
    trx,
    starts.map((start) => ({
      projectId,
      kind: 'execution.start' as const,
      refId: start.executionId,
      payload: {
        ...start,
        ...(p.anew && { anew: true as const }),
        ...(satisfied.has(start.executionId) && { satisfied: [start.next.visit] }),
      },
    })),
  );
}

function startOf({ execution, next }: Standing) {
  if (!execution || next.kind === 'end') return [];
  const { id: executionId, projectId, contactId, workflowId } = execution;
  const input = { projectId, executionId, next } satisfies ExecutionInput;
  return [{ ...input, contactId, workflowId }];
}
