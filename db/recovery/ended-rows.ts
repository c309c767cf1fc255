import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { JobKind } from '../../rules/contacts/jobs.ts';
import type { ExecutionStatus } from '../../rules/executions/execution.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { CampaignStart } from '../campaigns/campaigns.ts';
import type { Db, Trx } from '../connection.ts';
import { enqueue } from '../outbox/outbox.ts';

/** An execution that has ended. */
export interface EndedExecution {
  id: string;
  projectId: string;
  workflowId: string;
  contactId: string;
  status: ExecutionStatus;
  reason: string | null;
}

const EXECUTION = sql`e.id, e.project_id AS "projectId", e.workflow_id AS "workflowId", e.contact_id AS "contactId", e.status, e.exit_reason AS reason`;

/**
 * Time span in which rows ended. `until` is so long ago that the Temporal workflows of these rows should have ended,
 * too. `since` limits the span, so that old rows are not checked again and again.
 */
export interface EndedBetween {
  since: Date;
  until: Date;
}

/** One page of a list in the order of the ids. `after` is the last id of the previous page. */
interface PageAfter {
  after: string | undefined;
  limit: number;
}

function isAfterSql({ after }: PageAfter): RawBuilder<SqlBool> {
  return after === undefined ? sql<SqlBool>`true` : sql<SqlBool>`id > ${after}::uuid`;
}

/**
 * Lists executions of all projects that failed or were cancelled within a time span, in the order of their ids. Uses
 * one lookup per project in the index `executions_completed`.
 */
export async function listFailedOrCancelled(db: Db, p: EndedBetween & PageAfter): Promise<EndedExecution[]> {
  const { rows } = await sql<EndedExecution>`
    SELECT ${EXECUTION} FROM projects p CROSS JOIN LATERAL (
      SELECT * FROM executions x WHERE x.project_id = p.id AND x.completed_at > ${p.since} AND x.completed_at <= ${p.until}
        AND x.status IN ('FAILED', 'CANCELLED')) e
    WHERE ${p.after === undefined ? sql`true` : sql`e.id > ${p.after}`} ORDER BY e.id LIMIT ${p.limit}
  `.execute(db);
  return rows;
}

/** Finds the executions among these ids that ended before an instant, in all projects. */
export async function findEndedExecutions(db: Db, p: { ids: string[]; until: Date }): Promise<EndedExecution[]> {
  if (p.ids.length === 0) return [];
  const { rows } = await sql<EndedExecution>`
    SELECT ${EXECUTION} FROM executions e WHERE e.id = ANY(${p.ids}::uuid[]) AND e.completed_at <= ${p.until}
  `.execute(db);
  return rows;
}

/** Queues Temporal runs whose only purpose is to end with the status of the executions. */
export function enqueueExecutionEnds(trx: Trx, executions: EndedExecution[]): Promise<OutboxRow[]> {
  return enqueue(
    trx,
    executions.map(({ id, projectId, workflowId, contactId, status, reason }) => ({
      projectId,
      kind: 'execution.start' as const,
      refId: id,
      payload: {
        projectId,
        executionId: id,
        workflowId,
        contactId,
        next: { kind: 'end' as const, status, reason },
        anew: true as const,
      },
    })),
  );
}

export interface EndedJob {
  id: string;
  projectId: string;
  kind: JobKind;
  status: 'COMPLETED' | 'FAILED' | 'CANCELLED';
}

/** Lists jobs of all projects that ended within a time span, in the order of their ids. */
export async function listEndedJobs(db: Db, p: EndedBetween & PageAfter): Promise<EndedJob[]> {
  const { rows } = await sql<EndedJob>`
    SELECT id, project_id AS "projectId", kind, status FROM jobs
    WHERE completed_at > ${p.since} AND completed_at <= ${p.until} AND ${isAfterSql(p)} ORDER BY id LIMIT ${p.limit}
  `.execute(db);
  return rows;
}

export type EndedCampaignStart = CampaignStart & { status: 'SENT' | 'CANCELLED' };

/**
 * Lists the campaigns of all projects that are no longer open and were last changed within a time span, each with its
 * last start, in the order of the campaigns' ids. If the campaign is a DRAFT again, the start was cancelled.
 */
export async function listEndedCampaignStarts(db: Db, p: EndedBetween & PageAfter): Promise<EndedCampaignStart[]> {
  const { rows } = await sql<EndedCampaignStart>`
    SELECT id AS "campaignId", project_id AS "projectId", send_no AS "sendNo",
      CASE status WHEN 'SENT' THEN 'SENT' ELSE 'CANCELLED' END AS status FROM campaigns c
    WHERE updated_at > ${p.since} AND updated_at <= ${p.until} AND send_no > 0 AND status IN ('SENT', 'CANCELLED', 'DRAFT')
      AND ${isAfterSql(p)} ORDER BY id LIMIT ${p.limit}
  `.execute(db);
  return rows;
}
