import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { VisitStatus } from '../../rules/executions/execution.ts';
import type { StepType } from '../../rules/executions/steps/registry.ts';
import type { Db } from '../connection.ts';
import { afterCursorSql, type Page, type PageRequest, toPage } from '../keyset.ts';
import { isOwnedBySql } from '../owned-by.ts';

const HOUR_MS = 3_600_000;
/** Rows of `step_visit_counts` per statement. */
const FOLD_BATCH = 10_000;

/** Visits to a step by their result. A visit that was interrupted by a cancellation has no result. */
export interface VisitCounts {
  waiting: number;
  running: number;
  completed: number;
  failed: number;
  skipped: number;
}

/** Visits to a step that left it by one branch. `branch` is empty for visits without a branch, such as open visits. */
export interface BranchCounts extends VisitCounts {
  stepId: string;
  branch: string;
}

/**
 * Counts the visits to steps that started within a time span (`until` exclusive). Without `until`, counts all visits
 * since `since`. Reads full hours from `step_visit_counts` by its primary key. Reads the partial hours at both ends
 * from the visits, by the index `execution_steps_started`.
 */
export async function countVisits(
  db: Db,
  p: { projectId: string; stepIds: string[]; since?: Date | undefined; until?: Date | undefined },
): Promise<BranchCounts[]> {
  const { projectId, stepIds, since, until } = p;
  const from = since && Math.ceil(since.getTime() / HOUR_MS);
  const to = until && Math.floor(until.getTime() / HOUR_MS);
  const oneHour = from !== undefined && to !== undefined && from > to;
  const edges: [from: Date, to: Date][] = [];
  if (oneHour && since && until) edges.push([since, until]);
  else {
    if (since && from !== undefined) edges.push([since, new Date(from * HOUR_MS)]);
    if (until && to !== undefined) edges.push([new Date(to * HOUR_MS), until]);
  }
  const { rows } = await sql<BranchCounts>`
    SELECT step_id AS "stepId", branch, sum(waiting)::int AS waiting, sum(running)::int AS running,
      sum(completed)::int AS completed, sum(failed)::int AS failed, sum(skipped)::int AS skipped
    FROM (
      SELECT step_id, branch, waiting, running, completed, failed, skipped FROM step_visit_counts
      WHERE step_id = ANY(${stepIds}::uuid[]) AND ${isOwnedBySql('project_id', projectId)} AND ${!oneHour}
        ${from === undefined ? sql`` : sql`AND hour >= ${from}`} ${to === undefined ? sql`` : sql`AND hour < ${to}`}
      UNION ALL
      SELECT s.step_id, coalesce(s.output->>'branch', ''), count(*) FILTER (WHERE s.status = 'WAITING'),
        count(*) FILTER (WHERE s.status = 'RUNNING'), count(*) FILTER (WHERE s.status = 'COMPLETED'),
        count(*) FILTER (WHERE s.status = 'FAILED'), count(*) FILTER (WHERE s.status = 'SKIPPED')
      FROM unnest(${edges.map(([first]) => first)}::timestamptz[], ${edges.map(([, last]) => last)}::timestamptz[]) AS u (first, last)
      CROSS JOIN unnest(${stepIds}::uuid[]) AS w (step_id)
      CROSS JOIN LATERAL (
        SELECT v.* FROM execution_steps v
        WHERE v.step_id = w.step_id AND v.started_at >= u.first AND v.started_at < u.last AND ${isOwnedBySql('v.project_id', projectId)}
        OFFSET 0) s
      WHERE ${isNotSandboxVisit('s')}
      GROUP BY 1, 2
    ) c GROUP BY 1, 2
  `.execute(db);
  return rows;
}

/**
 * SQL condition that a visit does not belong to a sandbox. The subquery finds the execution by its id. For a join, the
 * planner would read all executions, because it expects far too many visits.
 */
export function isNotSandboxVisit(visit: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`NOT (SELECT e.sandbox FROM executions e WHERE e.id = ${sql.ref(`${visit}.execution_id`)})`;
}

/** A contact whose execution is at a step now. */
export interface ContactAtStep {
  executionId: string;
  contactId: string;
  email: string | null;
  type: StepType;
  status: VisitStatus;
  attempts: number;
  startedAt: Date;
  dueAt: Date | null;
  error: string | null;
}

/**
 * Lists contacts at a step, the latest execution first, without sandboxes. On the first page, `total` is the number in
 * the statistics; on later pages, it is 0. Uses the index of open visits, `execution_steps_open`, so ended visits cost
 * nothing.
 */
export async function listContactsAtStep(
  db: Db,
  p: PageRequest & { projectId: string; stepId: string },
): Promise<Page<ContactAtStep> & { total: number }> {
  const { rows } = await sql<ContactAtStep & { id: string }>`
    SELECT s.execution_id AS id, s.execution_id AS "executionId", e.contact_id AS "contactId", c.email, s.type, s.status, s.attempts,
      s.started_at AS "startedAt", s.due_at AS "dueAt", s.error
    FROM (
      SELECT * FROM execution_steps s
      WHERE s.step_id = ${p.stepId} AND s.completed_at IS NULL AND ${isOwnedBySql('s.project_id', p.projectId)}
        AND ${afterCursorSql(p.cursor, 's.execution_id')} AND ${isNotSandboxVisit('s')}
      ORDER BY s.execution_id DESC LIMIT ${p.limit + 1}) s
    JOIN executions e ON e.id = s.execution_id
    LEFT JOIN contacts c ON c.id = e.contact_id AND c.project_id = e.project_id
    ORDER BY s.execution_id DESC
  `.execute(db);
  const page = toPage(rows, p.limit, ({ id: _, ...row }) => row);
  return { ...page, total: p.cursor === undefined ? await countOpen(db, p) : 0 };
}

async function countOpen(db: Db, { projectId, stepId }: { projectId: string; stepId: string }): Promise<number> {
  const counts = await countVisits(db, { projectId, stepIds: [stepId] });
  return counts.reduce((sum, { waiting, running }) => sum + waiting + running, 0);
}

/**
 * Merges the counts of hours that ended at least an hour ago into one row per hour, step and branch. Each Postgres
 * backend counts in separate rows (`shard`). Skips a row that another transaction is incrementing; the next round
 * merges it. May run at any time, also concurrently.
 */
export async function mergeVisitCounts(db: Db): Promise<void> {
  while (true) {
    const { rows } = await sql<{ folded: number }>`
      WITH old AS MATERIALIZED (
        SELECT ctid FROM step_visit_counts WHERE shard <> 0 AND hour < floor(extract(epoch FROM now()) / 3600) - 1
        LIMIT ${FOLD_BATCH} FOR UPDATE SKIP LOCKED
      ), gone AS (
        DELETE FROM step_visit_counts WHERE ctid IN (SELECT ctid FROM old) RETURNING *
      ), folded AS (
        INSERT INTO step_visit_counts AS c (step_id, hour, branch, shard, project_id, waiting, running, completed, failed, skipped)
        SELECT step_id, hour, branch, 0, project_id, sum(waiting), sum(running), sum(completed), sum(failed), sum(skipped)
        FROM gone GROUP BY project_id, step_id, hour, branch ORDER BY step_id, hour, branch
        ON CONFLICT (step_id, hour, branch, shard) DO UPDATE SET waiting = c.waiting + excluded.waiting,
          running = c.running + excluded.running, completed = c.completed + excluded.completed,
          failed = c.failed + excluded.failed, skipped = c.skipped + excluded.skipped
      )
      SELECT count(*) AS folded FROM gone
    `.execute(db);
    if ((rows[0]?.folded ?? 0) < FOLD_BATCH) return;
  }
}
