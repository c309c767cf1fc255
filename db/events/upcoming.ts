import { sql } from 'kysely';
import type { Db } from '../connection.ts';

export interface UpcomingHour {
  at: Date;
  /** Campaigns that are scheduled to start in this hour. */
  campaigns: number;
  /** The number of executions whose pause ends in this hour, according to the table `timer_seconds`. */
  delays: number;
  /** The second in which the last of these pauses ends. */
  lastDelayAt: Date | null;
}

export interface ScheduledCampaign {
  id: string;
  name: string;
  scheduledAt: Date;
}

/** The maximum number of campaigns that are listed by name. The counts per hour include all campaigns. */
const CAMPAIGNS_SHOWN = 100;

/**
 * Lists upcoming activity by hour, starting with the current hour, and the next campaigns by name. Reads the pauses
 * from `timer_seconds`, which has at most one row per project and second, however many executions wait. A pause is
 * still counted if its execution has ended in the meantime.
 */
export async function listUpcomingHours(
  db: Db,
  p: { projectId: string; hours: number },
): Promise<{ hours: UpcomingHour[]; campaigns: ScheduledCampaign[] }> {
  const { rows: hours } = await sql<UpcomingHour>`
    WITH span AS (SELECT date_trunc('hour', now(), 'UTC') AS first, extract(epoch FROM now())::bigint AS now),
    scheduled AS (
      SELECT date_trunc('hour', scheduled_at, 'UTC') AS at, count(*) AS n FROM campaigns
      WHERE project_id = ${p.projectId} AND status = 'SCHEDULED' GROUP BY 1),
    booked AS (
      SELECT to_timestamp(second / 3600 * 3600) AS at, sum(booked) AS n, to_timestamp(max(second)) AS last
      FROM timer_seconds
      WHERE project_id = ${p.projectId} AND second >= (SELECT now FROM span)
        AND second < (SELECT extract(epoch FROM first)::bigint FROM span) + ${p.hours}::int * 3600
      GROUP BY 1)
    SELECT h.at, coalesce(s.n, 0)::int AS campaigns, coalesce(b.n, 0)::int AS delays, b.last AS "lastDelayAt"
    FROM (SELECT first + make_interval(hours => n) AS at FROM span, generate_series(0, ${p.hours}::int - 1) AS n) h
    LEFT JOIN scheduled s USING (at) LEFT JOIN booked b USING (at) ORDER BY h.at
  `.execute(db);
  const { rows: campaigns } = await sql<ScheduledCampaign>`
    SELECT id, name, scheduled_at AS "scheduledAt" FROM campaigns
    WHERE project_id = ${p.projectId} AND status = 'SCHEDULED'
      AND scheduled_at < date_trunc('hour', now(), 'UTC') + make_interval(hours => ${p.hours}::int)
    ORDER BY scheduled_at, id LIMIT ${CAMPAIGNS_SHOWN}
  `.execute(db);
  return { hours, campaigns };
}
