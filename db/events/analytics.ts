import { sql } from 'kysely';
import type { Db } from '../connection.ts';
import { OPEN_CAMPAIGNS } from '../schema/campaign-status.ts';
import { isNotSimulatedEventSql } from './simulated-events.ts';

export interface Span {
  projectId: string;
  startDate: Date;
  endDate: Date;
}

export interface DayCounts {
  /** `YYYY-MM-DD`, UTC. */
  date: string;
  emails: number;
  delivered: number;
  opens: number;
  clicks: number;
  bounces: number;
  complaints: number;
}

/** Counts live email by UTC day. Days without email have zeros. Reads all live emails of the project once. */
export async function listDayCounts(db: Db, p: Span): Promise<DayCounts[]> {
  const { rows } = await sql<DayCounts>`
    WITH days AS (
      SELECT to_char(d, 'YYYY-MM-DD') AS date
      FROM generate_series((${p.startDate}::timestamptz AT TIME ZONE 'UTC')::date,
        (${p.endDate}::timestamptz AT TIME ZONE 'UTC')::date, '1 day') d),
    moments AS (
      SELECT m.kind, to_char(m.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS date, count(*) AS n
      FROM emails e, LATERAL (VALUES ('sent', e.sent_at), ('delivered', e.delivered_at), ('opened', e.opened_at),
        ('clicked', e.clicked_at), ('bounced', e.bounced_at), ('complained', e.complained_at)) AS m (kind, at)
      WHERE e.project_id = ${p.projectId} AND e.mode = 'live' AND NOT e.simulated AND m.at >= ${p.startDate} AND m.at <= ${p.endDate}
      GROUP BY 1, 2)
    SELECT days.date,
      coalesce(sum(n) FILTER (WHERE kind = 'sent'), 0)::int AS emails,
      coalesce(sum(n) FILTER (WHERE kind = 'delivered'), 0)::int AS delivered,
      coalesce(sum(n) FILTER (WHERE kind = 'opened'), 0)::int AS opens,
      coalesce(sum(n) FILTER (WHERE kind = 'clicked'), 0)::int AS clicks,
      coalesce(sum(n) FILTER (WHERE kind = 'bounced'), 0)::int AS bounces,
      coalesce(sum(n) FILTER (WHERE kind = 'complained'), 0)::int AS complaints
    FROM days LEFT JOIN moments USING (date) GROUP BY days.date ORDER BY days.date
  `.execute(db);
  return rows;
}

export interface CampaignResult {
  id: string;
  name: string;
  subject: string;
  sentCount: number;
  openedCount: number;
  clickedCount: number;
}

/** Lists the campaigns that started in the span, by opens. Omits campaigns that sent nothing. */
export async function listTopCampaigns(db: Db, p: Span & { limit: number }): Promise<CampaignResult[]> {
  const { rows } = await sql<CampaignResult>`
    SELECT g.id, g.name, g.subject, count(e.sent_at)::int AS "sentCount", count(e.opened_at)::int AS "openedCount",
      count(e.clicked_at)::int AS "clickedCount"
    FROM campaigns g JOIN emails e ON e.campaign_id = g.id AND e.project_id = g.project_id AND e.mode = 'live' AND NOT e.simulated
    WHERE g.project_id = ${p.projectId} AND g.started_at >= ${p.startDate} AND g.started_at <= ${p.endDate}
    GROUP BY g.id HAVING count(e.sent_at) > 0
    ORDER BY count(e.opened_at) DESC, count(e.sent_at) DESC, g.id LIMIT ${p.limit}
  `.execute(db);
  return rows;
}

export interface CampaignTotals {
  total: number;
  active: number;
  completed: number;
  sent: number;
  opened: number;
  clicked: number;
}

/** Counts the campaigns created in the span, and the emails of campaigns that started in the span. */
export async function countCampaigns(db: Db, p: Span): Promise<CampaignTotals> {
  const { rows } = await sql<CampaignTotals>`
    SELECT c.total, c.active, c.completed, coalesce(m.sent, 0) AS sent, coalesce(m.opened, 0) AS opened,
      coalesce(m.clicked, 0) AS clicked
    FROM (SELECT count(*) AS total, count(*) FILTER (WHERE status IN ${OPEN_CAMPAIGNS}) AS active,
        count(*) FILTER (WHERE status = 'SENT') AS completed
      FROM campaigns WHERE project_id = ${p.projectId} AND created_at >= ${p.startDate} AND created_at <= ${p.endDate}) c,
    (SELECT count(e.sent_at) AS sent, count(e.opened_at) AS opened, count(e.clicked_at) AS clicked
      FROM campaigns g JOIN emails e ON e.campaign_id = g.id AND e.project_id = g.project_id AND e.mode = 'live' AND NOT e.simulated
      WHERE g.project_id = ${p.projectId} AND g.started_at >= ${p.startDate} AND g.started_at <= ${p.endDate}) m
  `.execute(db);
  return rows[0] ?? { total: 0, active: 0, completed: 0, sent: 0, opened: 0, clicked: 0 };
}

export interface EventTrend {
  name: string;
  count: number;
  /**
   * Change compared with the previous span of the same length, in percent. 100 for an event that did not occur in the
   * previous span.
   */
  trend: number;
}

/** Lists the most frequent events of the span. */
export async function listTopEvents(db: Db, p: Span & { limit: number }): Promise<EventTrend[]> {
  const before = new Date(p.startDate.getTime() - (p.endDate.getTime() - p.startDate.getTime()));
  const { rows } = await sql<EventTrend>`
    SELECT name, now_count AS count,
      CASE WHEN before_count = 0 THEN 100
        ELSE round(100.0 * (now_count - before_count) / before_count, 1) END::float AS trend
    FROM (SELECT name, count(*) FILTER (WHERE created_at >= ${p.startDate})::int AS now_count,
        count(*) FILTER (WHERE created_at < ${p.startDate})::int AS before_count
      FROM events WHERE project_id = ${p.projectId} AND created_at >= ${before} AND created_at <= ${p.endDate}
        AND ${isNotSimulatedEventSql(p.projectId)}
      GROUP BY name) c
    WHERE now_count > 0 ORDER BY now_count DESC, name LIMIT ${p.limit}
  `.execute(db);
  return rows;
}
