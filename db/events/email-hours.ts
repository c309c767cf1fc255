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
const DAY_MS = 24 * HOUR_MS;

const startOfDay = (ms: number) => Math.floor(ms / DAY_MS) * DAY_MS;
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
  return sumHoursByDay(db, {
    projectId: p.projectId,
    days: p.days.map(({ date, fromMs }) => ({ date, firstHour: firstHourFrom(fromMs) })),
    fromMs: firstHourFrom(first.fromMs) * HOUR_MS,
    untilMs: firstHourFrom(last.untilMs) * HOUR_MS,
  });
}

/**
 * Returns the counts of live emails for each UTC day of a time span, with both ends. Days without email have zeros.
 * Counts like `listEmailDays`, but only the events of the span if it starts or ends within an hour. Events that were
 * erased or pruned are missing in these two hours only.
 */
export async function listEmailUtcDays(
  db: Db,
  p: { projectId: string; startDate: Date; endDate: Date },
): Promise<EmailDay[]> {
  const [fromMs, lastMs] = [p.startDate.getTime(), p.endDate.getTime()];
  const days: HourDay[] = [];
  for (let day = startOfDay(fromMs); day <= lastMs; day += DAY_MS) {
    days.push({ date: new Date(day).toISOString().slice(0, 10), firstHour: day / HOUR_MS });
  }
  return sumHoursByDay(db, { projectId: p.projectId, days, fromMs, untilMs: lastMs + 1 });
}

interface HourDay {
  date: string;
  /** The UTC hour in which the day starts, as the number of hours since 1970. */
  firstHour: number;
}

/**
 * Sums the counts from `fromMs` up to and without `untilMs` by consecutive days. Reads whole past hours from
 * `mail_hours`. Reads the later hours from the events, and the start of the span if it is within an hour.
 */
async function sumHoursByDay(
  db: Db,
  p: { projectId: string; days: readonly HourDay[]; fromMs: number; untilMs: number },
): Promise<EmailDay[]> {
  const { projectId, days, fromMs, untilMs } = p;
  const firstWholeHour = firstHourFrom(fromMs);
  const [from, until] = [sql`${firstWholeHour}::int`, sql`${Math.floor(untilMs / HOUR_MS)}::int`];
  const startOfWholeHours = Math.min(firstWholeHour * HOUR_MS, untilMs);
  const beforeWholeHours =
    fromMs < startOfWholeHours
      ? sql`UNION ALL ${selectCountedEvents(projectId, instantSql(fromMs), instantSql(startOfWholeHours))}`
      : sql``;
  const { rows } = await sql<EmailDay>`
    WITH bounds AS MATERIALIZED (
      SELECT greatest(${from}, least(${until}, (SELECT hour FROM mail_hours_until))) AS counted),
    hours AS (
      SELECT hour, ${columns} FROM mail_hours
      WHERE project_id = ${projectId} AND hour >= ${from} AND hour < (SELECT counted FROM bounds)
      UNION ALL
      ${selectCountedEvents(projectId, startOfHourSql(sql`(SELECT counted FROM bounds)`), instantSql(untilMs))}
      ${beforeWholeHours}),
    sums AS (
      SELECT width_bucket(hour, ${days.map((day) => day.firstHour)}::int[]) AS n,
        ${sql.join(FIGURE_NAMES.map((figure) => sql`sum(${sql.ref(figure)})::int AS ${sql.ref(figure)}`))}
      FROM hours GROUP BY n)
    SELECT d.date, ${sql.join(FIGURE_NAMES.map((figure) => sql`coalesce(${sql.ref(figure)}, 0) AS ${sql.ref(figure)}`))}
    FROM unnest(${days.map((day) => day.date)}::text[]) WITH ORDINALITY AS d (date, n) LEFT JOIN sums USING (n)
    ORDER BY d.n
  `.execute(db);
  return rows;
}

const firstHourFrom = (ms: number) => Math.ceil(ms / HOUR_MS);
const instantSql = (ms: number) => sql`${new Date(ms)}::timestamptz`;

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
          ${selectCountedEvents(null, startOfHourSql(sql`(SELECT hour FROM moved)`), startOfHourSql(sql`(SELECT hour + 1 FROM moved)`))}) c
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
 * Returns a query for the counts by hour, of one project or of all projects by project, from the instant `from` up to
 * and without `to`. Reads events in the order of ids, which is the order of time.
 */
function selectCountedEvents(projectId: string | null, from: RawBuilder<unknown>, to: RawBuilder<unknown>) {
  const hour = hourOfSql(sql`uuid_extract_timestamp(events.id)`);
  const counts = FIGURE_NAMES.map(
    (figure) => sql`(count(*) FILTER (WHERE name = ${sql.lit(FIGURES[figure])}))::int AS ${sql.ref(figure)}`,
  );
  const [of, by] = projectId === null ? [sql``, sql`project_id, `] : [sql`project_id = ${projectId} AND`, sql``];
  return sql`
    SELECT ${by}${hour} AS hour, ${sql.join(counts)} FROM events
    WHERE ${of} events.id >= ${firstIdAtSql(from)} AND events.id < ${firstIdAtSql(to)}
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
