import { type RawBuilder, sql } from 'kysely';
import type { LocalDay } from '../../rules/time/local-days.ts';
import type { Db } from '../connection.ts';
import { firstIdAt } from '../id-time.ts';

/** What is counted of a mail, each by the event that records it; `opened` and `clicked` are the first of a person. */
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

export type MailFigures = Record<Figure, number>;

/** `date` is `YYYY-MM-DD`. */
export interface MailDay extends MailFigures {
  date: string;
}

/**
 * An hour is added up when it has been over for so long: a transaction that recorded an event in it has committed by
 * then.
 */
const SETTLED_MINUTES = 15;
const HOUR_MS = 3_600_000;

const hourOf = (instant: RawBuilder<unknown>): RawBuilder<number> =>
  sql<number>`floor(extract(epoch FROM ${instant}) / 3600)::int`;
const beginOf = (hour: RawBuilder<unknown>): RawBuilder<unknown> => sql`to_timestamp((${hour})::bigint * 3600)`;
const columns = sql.join(FIGURE_NAMES.map((figure) => sql.ref(figure)));

/**
 * What happened to live mails on each of these days, which follow each other; days without any as zeros. Hours that are
 * over are read from `mail_hours` by its primary key, and those since then from the events, by the range of their ids.
 * Hours are those of UTC: one that a day's begin cuts, in a zone that is half an hour off, is of the day in which it
 * begins. A mail that bounced for a while and later for good bounced twice. What is erased or pruned after its hour
 * stays counted.
 */
export async function listMailDays(db: Db, p: { projectId: string; days: readonly LocalDay[] }): Promise<MailDay[]> {
  const [first, last] = [p.days.at(0), p.days.at(-1)];
  if (!first || !last) return [];
  const from = sql`${firstHourOf(first.fromMs)}::int`;
  const until = sql`${firstHourOf(last.untilMs)}::int`;
  const { rows } = await sql<MailDay>`
    WITH bounds AS MATERIALIZED (
      SELECT greatest(${from}, least(${until}, (SELECT hour FROM mail_hours_until))) AS counted),
    hours AS (
      SELECT hour, ${columns} FROM mail_hours
      WHERE project_id = ${p.projectId} AND hour >= ${from} AND hour < (SELECT counted FROM bounds)
      UNION ALL
      ${countedEvents(p.projectId, sql`(SELECT counted FROM bounds)`, until)})
    SELECT d.date, ${sql.join(FIGURE_NAMES.map((figure) => sql`coalesce(sum(${sql.ref(figure)}), 0)::int AS ${sql.ref(figure)}`))}
    FROM unnest(${p.days.map((day) => day.date)}::text[], ${p.days.map((day) => firstHourOf(day.fromMs))}::int[],
      ${p.days.map((day) => firstHourOf(day.untilMs))}::int[]) AS d (date, begins, ends)
    LEFT JOIN hours ON hour >= d.begins AND hour < d.ends
    GROUP BY d.date ORDER BY d.date
  `.execute(db);
  return rows;
}

const firstHourOf = (ms: number) => Math.ceil(ms / HOUR_MS);

/**
 * Adds up the hours that are over, of all projects, in the order of time; a transaction each, in which the step on
 * decides, so that it may run at any time and twice at once. Hours that are left are counted from the events until
 * then.
 * @param goOn called between two hours; false ends it
 * @returns whether all hours that are over are added up
 */
export async function countPastMailHours(db: Db, goOn: () => boolean = () => true): Promise<boolean> {
  do {
    const { rows } = await sql<{ hour: number }>`
      WITH moved AS (
        UPDATE mail_hours_until SET hour = hour + 1
        WHERE ${beginOf(sql`hour + 1`)} <= now() - make_interval(mins => ${SETTLED_MINUTES}) RETURNING old.hour
      ), counted AS (
        INSERT INTO mail_hours (project_id, hour, ${columns})
        SELECT project_id, hour, ${columns} FROM (
          ${countedEvents(null, sql`(SELECT hour FROM moved)`, sql`(SELECT hour + 1 FROM moved)`)}) c
      )
      SELECT hour FROM moved
    `.execute(db);
    if (rows.length === 0) return true;
  } while (goOn());
  return false;
}

/** The id that an event would have at the beginning of the first hour that is not added up. */
export function firstUncountedId(): RawBuilder<unknown> {
  return firstIdAt(beginOf(sql`(SELECT hour FROM mail_hours_until)`));
}

/**
 * The figures by hour, of one project or by project of all, in hours `from` to `to` (exclusive): by the order of ids,
 * which is that of time.
 */
function countedEvents(projectId: string | null, from: RawBuilder<unknown>, to: RawBuilder<unknown>) {
  const hour = hourOf(sql`uuid_extract_timestamp(events.id)`);
  const counts = FIGURE_NAMES.map(
    (figure) => sql`(count(*) FILTER (WHERE name = ${sql.lit(FIGURES[figure])}))::int AS ${sql.ref(figure)}`,
  );
  const [of, by] = projectId === null ? [sql``, sql`project_id, `] : [sql`project_id = ${projectId} AND`, sql``];
  return sql`
    SELECT ${by}${hour} AS hour, ${sql.join(counts)} FROM events
    WHERE ${of} events.id >= ${firstIdAt(beginOf(from))} AND events.id < ${firstIdAt(beginOf(to))}
      AND name = ANY(${NAMES}::text[]) AND email_id IS NOT NULL
      AND NOT EXISTS (${uncounted(projectId)})
    GROUP BY ${by}${hour}`;
}

/** Test mails and those to the simulator, which are few and have indexes of their own. */
function uncounted(projectId: string | null): RawBuilder<unknown> {
  const of = projectId === null ? sql`` : sql`AND project_id = ${projectId}`;
  return sql`
    SELECT FROM (SELECT id FROM emails WHERE mode = 'test' ${of} UNION ALL SELECT id FROM emails WHERE simulated ${of}) u
    WHERE u.id = events.email_id`;
}
