import { type RawBuilder, sql } from 'kysely';
import type { LocalDay } from '../../rules/time/local-days.ts';
import type { Db } from '../connection.ts';
import { firstIdAtSql } from '../id-time.ts';

/**
 * The counters of emails, with the event that each counter counts. `opened` and `clicked` count only the first open and
 * click by a human.
 */
const FIGURES = {
  sent: 'email.sent',
  delivered: 'email.delivery',
  opened: 'email.open',
  clicked: 'email.click',
  bounced: 'email.bounce',
  complained: 'email.complaint',
} as const;
type Figure = keyof typeof FIGURES;
const NAMES = Object.values(FIGURES);
const FIGURE_NAMES = Object.keys(FIGURES) as Figure[];

export type EmailFigures = Record<Figure, number>;

/** `date` is `YYYY-MM-DD`. */
export interface EmailDay extends EmailFigures {
  date: string;
}

/**
 * The counts of an hour are stored this many minutes after the end of the hour, or later. By then, every transaction
 * that recorded an event in that hour has committed.
 */
const SETTLED_MINUTES = 15;
const HOUR_MS = 3_600_000;

const hourOfSql = (instant: RawBuilder<unknown>): RawBuilder<number> =>
  sql<number>`floor(extract(epoch FROM ${instant}) / 3600)::int`;
const startOfHourSql = (hour: RawBuilder<unknown>): RawBuilder<unknown> => sql`to_timestamp((${hour})::bigint * 3600)`;
const columns = sql.join(FIGURE_NAMES.map((figure) => sql.ref(figure)));

/**
 * Returns the counts of live emails for each of these consecutive days. Days without email have zeros. Reads past hours
 * from `mail_hours` by its primary key, and later hours from the events by a range of ids. Hours are UTC hours: in a
 * zone with a half-hour offset, an hour in which the day changes belongs to the day in which the hour starts. An email
 * with a soft bounce and then a hard bounce counts as two bounces. Events that are erased or pruned after their hour
 * was stored stay counted.
 */
export async function listEmailDays(db: Db, p: { projectId: string; days: readonly LocalDay[] }): Promise<EmailDay[]> {
  const [first, last] = [p.days.at(0), p.days.at(-1)];
  if (!first || !last) return [];
  const from = sql`${firstHourFrom(first.fromMs)}::int`;
  const until = sql`${firstHourFrom(last.untilMs)}::int`;
  const { rows } = await sql<EmailDay>`
    WITH bounds AS MATERIALIZED (
      SELECT greatest(${from}, least(${until}, (SELECT hour FROM mail_hours_until))) AS counted),
    hours AS (
      SELECT hour, ${columns} FROM mail_hours
      WHERE project_id = ${p.projectId} AND hour >= ${from} AND hour < (SELECT counted FROM bounds)
      UNION ALL
      ${selectCountedEvents(p.projectId, sql`(SELECT counted FROM bounds)`, until)})
    SELECT d.date, ${sql.join(FIGURE_NAMES.map((figure) => sql`coalesce(sum(${sql.ref(figure)}), 0)::int AS ${sql.ref(figure)}`))}
    FROM unnest(${p.days.map((day) => day.date)}::text[], ${p.days.map((day) => firstHourFrom(day.fromMs))}::int[],
      ${p.days.map((day) => firstHourFrom(day.untilMs))}::int[]) AS d (date, begins, ends)
    LEFT JOIN hours ON hour >= d.begins AND hour < d.ends
    GROUP BY d.date ORDER BY d.date
  `.execute(db);
  return rows;
}

const firstHourFrom = (ms: number) => Math.ceil(ms / HOUR_MS);

/**
 * Stores the counts of past hours of all projects in `mail_hours`, in the order of time. Each hour is one transaction
 * that first checks the stored position, so this function may run at any time, also concurrently. Until an hour is
 * stored, `listEmailDays` counts its events.
 * @param mayContinue called between two hours; false stops the work
 * @returns whether all past hours are stored
 */
export async function storePastEmailHours(db: Db, mayContinue: () => boolean = () => true): Promise<boolean> {
  do {
    const { rows } = await sql<{ hour: number }>`
      WITH moved AS (
        UPDATE mail_hours_until SET hour = hour + 1
        WHERE ${startOfHourSql(sql`hour + 1`)} <= now() - make_interval(mins => ${SETTLED_MINUTES}) RETURNING old.hour
      ), counted AS (
        INSERT INTO mail_hours (project_id, hour, ${columns})
        SELECT project_id, hour, ${columns} FROM (
          ${selectCountedEvents(null, sql`(SELECT hour FROM moved)`, sql`(SELECT hour + 1 FROM moved)`)}) c
      )
      SELECT hour FROM moved
    `.execute(db);
    if (rows.length === 0) return true;
  } while (mayContinue());
  return false;
}

/** Returns SQL for the lowest id that an event in the first hour without stored counts can have. */
export function firstUncountedEventIdSql(): RawBuilder<unknown> {
  return firstIdAtSql(startOfHourSql(sql`(SELECT hour FROM mail_hours_until)`));
}

/**
 * Returns a query for the counts by hour, of one project or of all projects by project, for hours `from` to `to`
 * (exclusive). Reads events in the order of ids, which is the order of time.
 */
function selectCountedEvents(projectId: string | null, from: RawBuilder<unknown>, to: RawBuilder<unknown>) {
  const hour = hourOfSql(sql`uuid_extract_timestamp(events.id)`);
  const counts = FIGURE_NAMES.map(
    (figure) => sql`(count(*) FILTER (WHERE name = ${sql.lit(FIGURES[figure])}))::int AS ${sql.ref(figure)}`,
  );
  const [of, by] = projectId === null ? [sql``, sql`project_id, `] : [sql`project_id = ${projectId} AND`, sql``];
  return sql`
    SELECT ${by}${hour} AS hour, ${sql.join(counts)} FROM events
    WHERE ${of} events.id >= ${firstIdAtSql(startOfHourSql(from))} AND events.id < ${firstIdAtSql(startOfHourSql(to))}
      AND name = ANY(${NAMES}::text[]) AND email_id IS NOT NULL
      AND NOT EXISTS (${selectUncountedEmails(projectId)})
    GROUP BY ${by}${hour}`;
}

/**
 * Selects the emails whose events are not counted: test email, and email to simulator addresses. Both kinds are few,
 * and each has an index.
 */
function selectUncountedEmails(projectId: string | null): RawBuilder<unknown> {
  const of = projectId === null ? sql`` : sql`AND project_id = ${projectId}`;
  return sql`
    SELECT FROM (SELECT id FROM emails WHERE mode = 'test' ${of} UNION ALL SELECT id FROM emails WHERE simulated ${of}) u
    WHERE u.id = events.email_id`;
}
