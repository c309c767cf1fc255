import { sql } from 'kysely';
import type { CampaignStatus } from '../../rules/campaigns/campaign.ts';
import type { JobStatus } from '../../rules/contacts/jobs.ts';
import type { ExecutionStatus } from '../../rules/executions/execution.ts';
import type { Db } from '../connection.ts';

/** The row of an execution whose Temporal workflow is running. */
export interface RunningExecution {
  id: string;
  projectId: string;
  visit: number;
  status: ExecutionStatus;
  reason: string | null;
  stepId: string | null;
  hasEnded: boolean;
  /** True if the row has not changed for a while, so that Temporal has had time to process the last change. */
  isSettled: boolean;
  /** True if the pause of the execution should have ended at least `settledMs` ago. */
  isOverdue: boolean;
  /** True if the event that the execution waits for has been recorded. */
  isSatisfied: boolean;
}

/** Finds executions of all projects whose Temporal workflows are running, by their ids. */
export async function findRunningExecutions(
  db: Db,
  p: { ids: string[]; settledMs: number },
): Promise<Map<string, RunningExecution>> {
  const settled = sql`now() - make_interval(secs => ${p.settledMs / 1_000}::float8)`;
  const { rows } = await sql<RunningExecution>`
    SELECT e.id, e.project_id AS "projectId", e.visit, e.status, e.exit_reason AS reason, e.current_step_id AS "stepId",
      e.completed_at IS NOT NULL AS "hasEnded",
      coalesce(e.completed_at, s.started_at, e.started_at) <= ${settled} AS "isSettled",
      coalesce(s.due_at <= ${settled}, false) AS "isOverdue",
      EXISTS (SELECT FROM execution_waits w WHERE w.execution_id = e.id AND w.visit = e.visit AND w.event_id IS NOT NULL) AS "isSatisfied"
    FROM executions e LEFT JOIN execution_steps s ON s.execution_id = e.id AND s.visit = e.visit
    WHERE e.id = ANY(${p.ids}::uuid[])
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

/** The row of a campaign whose Temporal workflow is running. */
export interface RunningCampaign {
  id: string;
  status: CampaignStatus;
  sendNo: number;
  /** True if the campaign should have started at least `settledMs` ago and has not. */
  isOverdue: boolean;
  isSettled: boolean;
}

/** Finds campaigns of all projects whose Temporal workflows are running, by their ids. */
export async function findRunningCampaigns(
  db: Db,
  p: { ids: string[]; settledMs: number },
): Promise<Map<string, RunningCampaign>> {
  const settled = sql`now() - make_interval(secs => ${p.settledMs / 1_000}::float8)`;
  const { rows } = await sql<RunningCampaign>`
    SELECT id, status, send_no AS "sendNo", updated_at <= ${settled} AS "isSettled",
      status = 'SCHEDULED' AND coalesce(scheduled_at <= ${settled}, false) AS "isOverdue"
    FROM campaigns WHERE id = ANY(${p.ids}::uuid[])
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Finds the status of jobs of all projects whose Temporal workflows are running, by their ids. */
export async function findRunningJobs(db: Db, ids: string[]): Promise<Map<string, { status: JobStatus }>> {
  const rows = await db.selectFrom('jobs').select(['id', 'status']).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Finds the webhook endpoints among these ids that exist and have pending deliveries, in all projects. `isOverdue` is
 * true if a delivery should have been attempted at least `settledMs` ago and the endpoint does not wait.
 */
export async function findPendingEndpoints(
  db: Db,
  p: { ids: string[]; settledMs: number },
): Promise<Map<string, { isOverdue: boolean }>> {
  const { rows } = await sql<{ id: string; isOverdue: boolean }>`
    SELECT e.id, min(d.next_attempt_at) <= now() - make_interval(secs => ${p.settledMs / 1_000}::float8)
      AND coalesce(e.wakes_at <= now(), true) AS "isOverdue"
    FROM webhook_endpoints e JOIN webhook_deliveries d ON d.endpoint_id = e.id AND d.status = 'PENDING'
    WHERE e.id = ANY(${p.ids}::uuid[]) GROUP BY e.id
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}
