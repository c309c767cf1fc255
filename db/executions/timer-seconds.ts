/**
 * Spreads the timers of a project. Timers that end in the same second (a DELAY until nine o'clock, a thousand
 * contacts tracked at once) would all reach Temporal at that instant, and every other tenant's work would wait behind
 * them.
 */
import { sql } from 'kysely';
import { groupBy } from '../../rules/filters/group-by.ts';
import type { Db, Trx } from '../connection.ts';
import { prepared } from '../prepared.ts';

/**
 * Number of a project's timers that may end in one second, unless `timer_rate` says otherwise. It is a third of what
 * Temporal does on two slow cores, including the work after the timers, so that the rest is left for other tenants.
 */
export const TIMERS_PER_SECOND = 10;
/** Time for which a worker's report counts. */
const RATE_SECONDS = 10;
/** Largest decrease of the rate per report. A pause between two bursts must not delay the second one. */
const SINKS_TO = 0.95;
/** Largest decrease per report while Temporal starts work late. */
const SINKS_TO_WHEN_LATE = 0.8;
/** Number of additional seconds that the first search for capacity covers. Each further search covers twice as many. */
const WINDOW_SECONDS = 64;
/**
 * Number of repeated bookings after another transaction took the capacity. After that, a second may hold a few more
 * timers.
 */
const MAX_ROUNDS = 10;
/** How long past seconds are kept, for hosts whose time runs slow. */
const KEPT_SECONDS = 3_600;
const PRUNE_BATCH = 10_000;

export interface Timer {
  dueAt: Date;
  /** Called if the timer has to end later than requested. */
  moveTo(at: Date): void;
}

/**
 * Books the ends of a project's timers in the caller's transaction, at most `per_second` in one second. A timer that
 * finds capacity keeps its exact time. The others move to the next seconds with capacity, so the last of N is late by
 * N / `per_second` seconds. Takes one statement if there is capacity. A full second stores where to continue the
 * search, so a wave of any size costs each group of timers the same.
 */
export async function bookTimers(trx: Trx, p: { projectId: string; timers: Timer[] }): Promise<void> {
  const { projectId, timers } = p;
  if (timers.length === 0) return;
  const asked = groupBy(timers, (timer) => Math.floor(timer.dueAt.getTime() / 1_000));
  const booked = await book(trx, { projectId, asked });
  const full = booked.flatMap(({ second, before, perSecond, nextSecond }) => {
    const late = perSecond === 0 ? [] : (asked.get(second)?.slice(freeTimers(before, perSecond)) ?? []);
    return late.length > 0 ? [{ second, late, from: Math.max(nextSecond ?? 0, second + 1) }] : [];
  });
  for (const { second, late, from } of full) {
    const last = await bookLate(trx, { projectId, timers: late, from, perSecond: booked[0]?.perSecond ?? 0 });
    await sql`
      UPDATE timer_seconds SET next_second = ${last} WHERE project_id = ${projectId} AND second = ${second}
    `.execute(trx);
  }
}

/** Deletes seconds that are over. May run at any time, and again. */
export async function deletePassedTimerSeconds(db: Db): Promise<void> {
  while (true) {
    const { numAffectedRows } = await sql`
      DELETE FROM timer_seconds WHERE ctid IN (SELECT ctid FROM timer_seconds
        WHERE second < extract(epoch FROM now()) - ${KEPT_SECONDS} LIMIT ${PRUNE_BATCH})
    `.execute(db);
    if ((numAffectedRows ?? 0n) < PRUNE_BATCH) return;
  }
}

/**
 * Sets how many timers of a project may end in a second, for all processes; 0 means no limit. Booked timers do not
 * move.
 */
export async function setTimerRate(db: Db, perSecond: number): Promise<void> {
  await sql`
    INSERT INTO timer_rate (per_second) VALUES (${perSecond})
    ON CONFLICT (one) DO UPDATE SET per_second = excluded.per_second WHERE timer_rate.per_second <> excluded.per_second
  `.execute(db);
}

/** How fast Temporal starts the work it receives: soon, not too late, or late. */
export type Pace = 'easy' | 'busy' | 'late';

/**
 * Records how many timers per second a worker sees Temporal start. The sum over all workers is the capacity of this
 * installation, and the limit of one project's timers per second. A lower limit would delay a steady stream of timers
 * more and more, although the installation could serve them. The rate grows only while work starts soon, because a
 * fully loaded server has no capacity left for other tenants.
 * @param p.atLeast the rate that applies while little is seen
 */
export async function reportFollowed(
  db: Db,
  p: { workerId: string; perSecond: number; atLeast: number; pace: Pace },
): Promise<void> {
  const sunk = sql`floor(timer_rate.per_second * ${p.pace === 'late' ? SINKS_TO_WHEN_LATE : SINKS_TO}::float8)::int`;
  await prepared`
    WITH mine AS (
      INSERT INTO begin_rates (worker_id, per_second) VALUES (${p.workerId}::uuid, ${p.perSecond}::float8)
      ON CONFLICT (worker_id) DO UPDATE SET per_second = excluded.per_second, at = now()
    ), gone AS (
      DELETE FROM begin_rates WHERE at < now() - make_interval(secs => ${60 * RATE_SECONDS}) AND worker_id <> ${p.workerId}::uuid
    ), all_see AS (
      SELECT ceil(${p.perSecond}::float8 + coalesce(sum(per_second), 0))::int AS per_second FROM begin_rates
      WHERE worker_id <> ${p.workerId}::uuid AND at > now() - make_interval(secs => ${RATE_SECONDS})
    )
    INSERT INTO timer_rate (per_second) SELECT greatest(${p.atLeast}::int, per_second) FROM all_see
    ON CONFLICT (one) DO UPDATE SET per_second = CASE
      WHEN ${p.pace === 'easy'} THEN greatest(excluded.per_second, ${sunk})
      ELSE greatest(${p.atLeast}::int, ${sunk}) END
  `.execute(db);
}

interface BookedSecond {
  second: number;
  /** Timers that were booked in this second before. */
  before: number;
  nextSecond: number | null;
  perSecond: number;
}

function freeTimers(before: number, perSecond: number): number {
  return Math.max(0, perSecond - before);
}

/**
 * Counts timers into their seconds, regardless of capacity, in the order of the seconds, which is the order of their
 * locks.
 */
async function book(trx: Trx, p: { projectId: string; asked: Map<number, Timer[]> }): Promise<BookedSecond[]> {
  const seconds = [...p.asked.keys()].sort((a, b) => a - b);
  const { rows } = await prepared<Omit<BookedSecond, 'before'> & { booked: number }>`
    INSERT INTO timer_seconds AS t (project_id, second, booked)
    SELECT ${p.projectId}::uuid, u.second, u.asked FROM unnest(${seconds}::bigint[],
      ${seconds.map((second) => p.asked.get(second)?.length ?? 0)}::int[]) AS u (second, asked)
    ORDER BY u.second
    ON CONFLICT (project_id, second) DO UPDATE SET booked = t.booked + excluded.booked
    RETURNING second, booked, next_second AS "nextSecond",
      coalesce((SELECT per_second FROM timer_rate), ${TIMERS_PER_SECOND}::int) AS "perSecond"
  `.execute(trx);
  return rows.map(({ booked, ...row }) => ({ ...row, before: booked - (p.asked.get(row.second)?.length ?? 0) }));
}

/**
 * Books timers from a second on, as capacity allows.
 * @returns the last second that it used
 */
async function bookLate(
  trx: Trx,
  p: { projectId: string; timers: Timer[]; from: number; perSecond: number },
): Promise<number> {
  const { projectId, perSecond } = p;
  let { timers, from } = p;
  for (let round = 1; timers.length > 0; round += 1) {
    const plan = await findRoom(trx, { projectId, timers, from, perSecond });
    timers = [];
    for (const { second, before } of await book(trx, { projectId, asked: plan })) {
      const placed = plan.get(second) ?? [];
      // Another transaction may have taken the capacity since it was read.
      const room = round < MAX_ROUNDS ? freeTimers(before, perSecond) : placed.length;
      for (const [index, timer] of placed.slice(0, room).entries())
        timer.moveTo(instantOf(second, before + index, perSecond));
      timers.push(...placed.slice(room));
      from = Math.max(from, second);
    }
  }
  return from;
}

/** Spreads the timers evenly over the second. */
function instantOf(second: number, position: number, perSecond: number): Date {
  return new Date(second * 1_000 + Math.floor(((position % perSecond) * 1_000) / perSecond));
}

/** Finds a second with capacity for each timer, from a second on. */
async function findRoom(
  trx: Trx,
  { projectId, timers, from, perSecond }: { projectId: string; timers: Timer[]; from: number; perSecond: number },
): Promise<Map<number, Timer[]>> {
  const plan = new Map<number, Timer[]>();
  let second = from;
  let placed = 0;
  for (let window = WINDOW_SECONDS; placed < timers.length; window *= 2) {
    const end = second + window + Math.ceil((timers.length - placed) / perSecond);
    const known = await listSeconds(trx, { projectId, second, end });
    while (second < end && placed < timers.length) {
      const { booked = 0, nextSecond } = known.get(second) ?? {};
      const room = freeTimers(booked, perSecond);
      if (room > 0) plan.set(second, timers.slice(placed, placed + room));
      placed += room;
      second = room === 0 && nextSecond ? Math.max(nextSecond, second + 1) : second + 1;
    }
  }
  return plan;
}

async function listSeconds(
  trx: Trx,
  { projectId, second, end }: { projectId: string; second: number; end: number },
): Promise<Map<number, { booked: number; nextSecond: number | null }>> {
  const { rows } = await sql<{ second: number; booked: number; nextSecond: number | null }>`
    SELECT second, booked, next_second AS "nextSecond" FROM timer_seconds
    WHERE project_id = ${projectId} AND second >= ${second} AND second < ${end}
  `.execute(trx);
  return new Map(rows.map((row) => [row.second, row]));
}
