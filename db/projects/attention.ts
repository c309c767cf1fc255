import { type RawBuilder, sql } from 'kysely';
import { OUTBOX_PRIORITY } from '../../rules/outbox.ts';
import type { Db } from '../connection.ts';
import { firstIdAtSql } from '../id-time.ts';
import { listPeriodicWork } from '../operator/periodic-work.ts';

/** Kinds of problems that a project's members should look at, the most urgent first. */
export const PROJECT_ATTENTION_KINDS = [
  'project_held',
  'route_paused',
  'domain_broken',
  'campaign_paused',
  'outbox_late',
  'executions_failed',
  'endpoint_disabled',
  'endpoint_degraded',
] as const;
export type ProjectAttentionKind = (typeof PROJECT_ATTENTION_KINDS)[number];

/**
 * All kinds of problems. Periodic work belongs to the whole installation, so only operators see `periodic_work_late`.
 */
export const ATTENTION_KINDS = ['periodic_work_late', ...PROJECT_ATTENTION_KINDS] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

export interface Attention {
  kind: AttentionKind;
  /** The id of the affected domain, campaign, workflow or endpoint. Null for other kinds of problems. */
  id: string | null;
  /** The name of that record (the URL of an endpoint), or the kind of periodic work. */
  name: string | null;
  since: Date;
  /** The number of executions, or of rows of the outbox, with the problem. 1 for other kinds of problems. */
  count: number;
  /** A detail of the problem. Null if the kind is enough to explain the problem. */
  detail: string | null;
}

/** The maximum number of failed executions and waiting rows that are counted. */
export const ATTENTION_COUNT_MAX = 10_000;
/** Executions that failed earlier than this many days ago are not shown. */
export const FAILED_DAYS = 7;
/** A row of the outbox is late after waiting this many seconds. */
export const LATE_SECONDS = 60;
const LAST_PRIORITY = Math.max(...Object.values(OUTBOX_PRIORITY));

/**
 * Lists the problems of these kinds in a project. Uses one statement: the index `executions_failed` finds failed
 * executions, and `outbox_turn` finds late rows of the outbox. A project has only a few domains, campaigns and
 * endpoints.
 */
export async function listAttention(
  db: Db,
  p: { projectId: string; kinds: readonly ProjectAttentionKind[] },
): Promise<Attention[]> {
  const parts = p.kinds.map((kind) => sql`(${SOURCES[kind](p.projectId)})`);
  if (parts.length === 0) return [];
  const { rows } = await sql<Attention>`
    SELECT kind, id, name, since, count::int AS count, detail FROM (${sql.join(parts, sql` UNION ALL `)})
      AS u (kind, id, name, since, count, detail)
    ORDER BY array_position(${[...PROJECT_ATTENTION_KINDS]}::text[], kind), since DESC
  `.execute(db);
  return rows;
}

/** Lists the kinds of periodic work for which no round has ended for three periods. */
export async function listLatePeriodicWork(db: Db): Promise<Attention[]> {
  const states = await listPeriodicWork(db);
  return states
    .filter(({ isLate }) => isLate)
    .map(({ kind, lateSince, lastError }) => ({
      kind: 'periodic_work_late',
      id: null,
      name: kind,
      since: lateSince,
      count: 1,
      detail: lastError,
    }));
}

const LATE = sql`(now() - make_interval(secs => ${LATE_SECONDS}))`;

type Source = (projectId: string) => RawBuilder<unknown>;

const selectEndpoints =
  (kind: ProjectAttentionKind, status: 'DISABLED' | 'DEGRADED', detail: RawBuilder<unknown>): Source =>
  (projectId) =>
    sql`
    SELECT ${sql.lit(kind)}, id, url, coalesce(failing_since, updated_at), 1, ${detail} FROM webhook_endpoints
    WHERE project_id = ${projectId} AND status = ${sql.lit(status)} AND disabled_reason IS DISTINCT FROM 'manual'`;

/** The queries of all kinds. Each selects kind, id, name, since, count and detail. */
const SOURCES: Record<ProjectAttentionKind, Source> = {
  project_held: (projectId) => sql`
    SELECT 'project_held', NULL::uuid, NULL, effective_held_at, 1, effective_hold_reason FROM projects
    WHERE id = ${projectId} AND effective_held_at IS NOT NULL`,
  route_paused: (projectId) => sql`
    SELECT 'route_paused', NULL::uuid, NULL, min(since), 1, min(reply) FROM route_pauses
    WHERE project_id = ${projectId} OR project_id IS NULL HAVING count(*) > 0`,
  domain_broken: (projectId) => sql`
    SELECT 'domain_broken', id, domain, coalesce((found->>'missingSince')::timestamptz, updated_at), 1, status FROM domains
    WHERE project_id = ${projectId} AND (status = 'FAILED' OR found->>'missingSince' IS NOT NULL)`,
  campaign_paused: (projectId) => sql`
    SELECT 'campaign_paused', id, name, updated_at, 1, paused_reason FROM campaigns
    WHERE project_id = ${projectId} AND status = 'PAUSED' AND paused_reason <> 'requested'`,
  // Reads a limited number of rows of each priority, so that many rows of one priority do not hide another priority.
  outbox_late: (projectId) => sql`
    SELECT 'outbox_late', NULL::uuid, NULL, min(created_at), least(count(*), ${ATTENTION_COUNT_MAX}), NULL
    FROM generate_series(0, ${LAST_PRIORITY}) AS p (priority), LATERAL (
      SELECT created_at FROM outbox WHERE project_id = ${projectId} AND priority = p.priority AND id < ${firstIdAtSql(LATE)}
        AND taken_at IS NULL AND available_at < ${LATE}
      ORDER BY id LIMIT ${ATTENTION_COUNT_MAX}) o
    HAVING count(*) > 0`,
  executions_failed: (projectId) => sql`
    SELECT 'executions_failed', f.workflow_id, w.name, max(f.completed_at), count(*), (array_agg(f.error ORDER BY f.completed_at DESC))[1]
    FROM (SELECT workflow_id, completed_at, error FROM executions
      WHERE project_id = ${projectId} AND completed_at > now() - make_interval(days => ${FAILED_DAYS}) AND error IS NOT NULL
        AND status = 'FAILED' AND NOT sandbox
      ORDER BY completed_at DESC LIMIT ${ATTENTION_COUNT_MAX}) f
    JOIN workflows w ON w.id = f.workflow_id AND w.project_id = ${projectId}
    GROUP BY f.workflow_id, w.name`,
  endpoint_disabled: selectEndpoints('endpoint_disabled', 'DISABLED', sql`disabled_reason`),
  endpoint_degraded: selectEndpoints('endpoint_degraded', 'DEGRADED', sql`NULL`),
};
