import { sql } from 'kysely';
import type { Db, Trx } from '../../db/connection.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import type { ExecutionInput } from '../../rules/executions/execution.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { WorkflowPosition } from './catch-up.ts';
import { resumeExecutions, type WalkPosition } from './resume.ts';
import { findWaitEvents } from './waits.ts';

/** An execution that has not ended, with its current visit. */
export interface OpenExecution {
  projectId: string;
  id: string;
  visit: number;
}

/** An execution to restart. */
export interface LostExecution extends OpenExecution {
  /** The position of its last run in Temporal, if that run was ahead of the row (`catch-up.ts`). */
  ahead?: WorkflowPosition | undefined;
}

/**
 * Lists executions of all projects that should have a Temporal workflow: they have not ended, and no row of the outbox
 * still has to start them. Orders them by id, which is also the order in which they started. Uses the index
 * `executions_open`.
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
 * Queues new Temporal workflows for executions whose workflow no longer exists in Temporal. Each execution resumes at
 * its position in Postgres: at its effect, in its DELAY until the stored instant, or in its wait until the stored
 * deadline. If the last run of an execution was ahead of its row, the row is first advanced to the run's position. If
 * the event of a wait arrived while no workflow was running, the wait ends at once. An execution that has ended in the
 * meantime is skipped. If the workflow exists after all, the start does nothing.
 * @param p.anew whether Temporal has a closed run of the execution
 */
export async function restartLostExecutions(
  trx: Trx,
  p: { projectId: string; executions: LostExecution[]; anew?: boolean },
): Promise<OutboxRow[]> {
  const { projectId, executions } = p;
  const inputs = executions.map(({ id, visit, ahead }) => ({ projectId, executionId: id, visit, ...ahead }));
  const positions = await resumeExecutions(trx, { projectId, inputs });
  const starts = positions.flatMap(toStarts);
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

function toStarts({ execution, next }: WalkPosition) {
  if (!execution || next.kind === 'end') return [];
  const { id: executionId, projectId, contactId, workflowId } = execution;
  const input = { projectId, executionId, next } satisfies ExecutionInput;
  return [{ ...input, contactId, workflowId }];
}
