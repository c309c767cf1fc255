import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ExecutionStatus } from '../../rules/executions/execution.ts';
import type { NewOutboxRow, OutboxRow } from '../../rules/outbox.ts';
import type { Trx } from '../connection.ts';
import { enqueue } from '../outbox/outbox.ts';

/**
 * Ends executions early, in the caller's transaction. The status in Postgres is decisive. Rows of the outbox then
 * notify the Temporal workflows, which only have to end. A step that is running completes, and its activity then finds
 * that the execution has ended.
 * @param p.where SQL condition on `executions`; executions that have already ended do not change
 */
export async function endExecutions(
  trx: Trx,
  p: {
    projectId: string;
    where: RawBuilder<SqlBool>;
    status: 'CANCELLED' | 'EXITED' | 'FAILED' | 'COMPLETED';
    reason: string | null;
    error?: string;
    /** Set if the Temporal workflow has already ended, so that it needs no signal. */
    isOver?: true;
  },
): Promise<{ ids: string[]; outbox: OutboxRow[] }> {
  const { rows } = await sql<{ id: string }>`
    UPDATE executions SET status = ${p.status}, exit_reason = ${p.reason}, error = coalesce(${p.error ?? null}, error), completed_at = now()
    WHERE project_id = ${p.projectId} AND completed_at IS NULL AND (${p.where})
    RETURNING id
  `.execute(trx);
  const ids = rows.map((row) => row.id);
  if (ids.length === 0) return { ids, outbox: [] };
  await sql`
    UPDATE execution_steps SET status = 'CANCELLED', completed_at = now()
    WHERE execution_id = ANY(${ids}::uuid[]) AND completed_at IS NULL
  `.execute(trx);
  await sql`DELETE FROM execution_waits WHERE execution_id = ANY(${ids}::uuid[])`.execute(trx);
  const outbox = await enqueue(
    trx,
    (p.isOver ? [] : ids).map((refId) =>
      createEndSignal({ projectId: p.projectId, executionId: refId, status: p.status, reason: p.reason }),
    ),
  );
  return { ids, outbox };
}

/**
 * Builds the outbox row that signals to a Temporal workflow how its execution ended. The workflow ends with the same
 * status and reason as the execution.
 */
export function createEndSignal(p: {
  projectId: string;
  executionId: string;
  status: ExecutionStatus;
  reason: string | null;
}): NewOutboxRow {
  const { projectId, executionId: refId, status, reason } = p;
  if (status === 'CANCELLED')
    return { projectId, kind: 'execution.cancel', refId, payload: { ...(reason !== null && { reason }) } };
  return { projectId, kind: 'execution.ended', refId, payload: { status, reason } };
}
