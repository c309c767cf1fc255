import { type RawBuilder, sql } from 'kysely';
import { LATE_PERIODS, PERIODIC_KINDS, PERIODIC_WORK, type PeriodicKind } from '../../rules/periodic-work.ts';
import type { Db } from '../connection.ts';

/** Maximum number of failing parts that a round stores. If the whole database is unavailable, all parts fail. */
const FAILING_MAX = 100;
const ERROR_CHARS = 500;

/** The stored state that a new round starts with. */
export interface StartedRound {
  /** When the round starts. This is a time of Postgres, like `computed_at` of segments. */
  since: Date;
  /** The parts that failed in the last round, or did not end in time. */
  failing: string[];
  /** The part after which the new round continues. Null if the last round started all parts. */
  resumeAfter: string | null;
}

/** Records that a round of one kind of work has started. */
export async function startRound(db: Db, kind: PeriodicKind): Promise<StartedRound> {
  const row = await db
    .updateTable('periodic_work')
    .set({ began_at: sql`now()` })
    .where('kind', '=', kind)
    .returning([sql<Date>`began_at`.as('since'), 'failing', 'resume_after'])
    .executeTakeFirstOrThrow();
  return { since: row.since, failing: row.failing, resumeAfter: row.resume_after };
}

/** Records the result of a round of one kind of work. */
export async function endRound(
  db: Db,
  p: { kind: PeriodicKind; since: Date; unfinished: number; failing: string[]; resumeAfter: string | null },
): Promise<void> {
  await db
    .updateTable('periodic_work')
    .set({
      ended_at: sql`now()`,
      duration_ms: sql`least(2147483647, greatest(0, extract(epoch FROM now() - ${p.since}::timestamptz) * 1000))::int`,
      unfinished: p.unfinished,
      failing: p.failing.slice(0, FAILING_MAX),
      resume_after: p.resumeAfter,
    })
    .where('kind', '=', p.kind)
    .execute();
}

/** Stores the newest error of one kind of work. Later rounds without an error do not clear it. */
export async function recordPeriodicError(db: Db, p: { kind: PeriodicKind; error: string }): Promise<void> {
  await db
    .updateTable('periodic_work')
    .set({ last_error: p.error.slice(0, ERROR_CHARS), last_error_at: sql`now()` })
    .where('kind', '=', p.kind)
    .execute();
}

/** The state of a kind of periodic work. */
export interface PeriodicWorkState {
  kind: PeriodicKind;
  everyMinutes: number;
  startedAt: Date | null;
  endedAt: Date | null;
  durationMs: number | null;
  /**
   * True if a round has started and has not ended. A round takes less than its period, so a round that started earlier
   * was terminated in Temporal, or no worker runs it.
   */
  isRunning: boolean;
  /**
   * The number of segments, domains or hours that have been due for more than two periods. For recovery and pruning,
   * the number of parts that the last round did not complete.
   */
  backlog: number;
  failing: string[];
  lastError: string | null;
  lastErrorAt: Date | null;
  /** True if no round has ended for three periods. */
  isLate: boolean;
  /** The instant when the last round ended. If no round has ended, the instant since which rounds are expected. */
  lateSince: Date;
}

/**
 * Queries for the backlog of kinds of work whose tables show what is due. A row is late after two periods: one
 * period until the next round, and one for the round itself.
 */
const BACKLOGS: Partial<Record<PeriodicKind, RawBuilder<unknown>>> = {
  segments: sql`(SELECT count(*) FROM segments WHERE track_membership AND type = 'DYNAMIC'
    AND coalesce(computed_at, created_at) < now() - make_interval(mins => ${2 * PERIODIC_WORK.segments.everyMinutes}))`,
  domains: sql`(SELECT count(*) FROM domains
    WHERE coalesce(last_checked_at, created_at) < now() - make_interval(mins => ${2 * PERIODIC_WORK.domains.everyMinutes}))`,
  // An hour is due 15 minutes after its end, because all its events have been committed by then.
  statistics: sql`(SELECT greatest(0, floor(extract(epoch FROM
    now() - make_interval(mins => ${15 + 2 * PERIODIC_WORK.statistics.everyMinutes})) / 3600)::int - min(hour)) FROM mail_hours_until)`,
};

/** Returns the state of all kinds of periodic work, in the order of `PERIODIC_WORK`. */
export async function listPeriodicWork(db: Db): Promise<PeriodicWorkState[]> {
  const selectByKind = <T>(value: (kind: PeriodicKind) => RawBuilder<T>) =>
    sql.join(
      PERIODIC_KINDS.map((kind) => sql`WHEN ${sql.lit(kind)} THEN ${value(kind)}`),
      sql` `,
    );
  const { rows } = await sql<PeriodicWorkState>`
    SELECT kind, "everyMinutes", began_at AS "startedAt", ended_at AS "endedAt", duration_ms AS "durationMs",
      coalesce(began_at > greatest(ended_at, now() - make_interval(mins => "everyMinutes")), false) AS "isRunning", backlog::int AS backlog, failing,
      last_error AS "lastError", last_error_at AS "lastErrorAt", "lateSince",
      "lateSince" < now() - make_interval(mins => ${LATE_PERIODS} * "everyMinutes") AS "isLate"
    FROM (
      SELECT *, coalesce(ended_at, known_since) AS "lateSince",
        CASE kind ${selectByKind((kind) => sql`${sql.lit(PERIODIC_WORK[kind].everyMinutes)}`)} END AS "everyMinutes",
        CASE kind ${selectByKind((kind) => BACKLOGS[kind] ?? sql`unfinished`)} END AS backlog
      FROM periodic_work WHERE kind = ANY(${PERIODIC_KINDS}::text[])) w
    ORDER BY array_position(${PERIODIC_KINDS}::text[], kind)
  `.execute(db);
  return rows;
}
