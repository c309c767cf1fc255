import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ExecutionStatus } from '../../rules/executions/execution.ts';
import type { NewOutboxRow, OutboxRow } from '../../rules/outbox.ts';
import type { Trx } from '../connection.ts';
import { enqueue } from '../outbox/outbox.ts';

/**
 * Ends executions early, in the caller's transaction. The row decides, and the outbox tells their Temporal workflows,
 * which have nothing left to do. A running step finishes and finds the execution ended.
 * @param p.where over `executions`; executions that have ended already do not change
 */
export async function endExecutions(
  trx: Trx,
  p: {
    projectId: string;
    where: RawBuilder<SqlBool>;
    status: 'CANCELLED' | 'EXITED' | 'FAILED' | 'COMPLETED';
    reason: string | null;
    error?: string;
    /** Whether the Temporal workflow has ended, so that it needs no signal. */
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
      endSignal({ projectId: p.projectId, executionId: refId, status: p.status, reason: p.reason }),
    ),
  );
  return { ids, outbox };
}

/** Tells an execution's workflow how the execution ended. The workflow ends in the same way. */
export function endSignal(p: {
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
