/**
 * Spreads the timers of a project. Those that end in one second (a DELAY until nine o'clock, a thousand contacts
 * tracked at once) would all reach Temporal at that instant, and every other tenant's work would stand behind them.
 */
import { sql } from 'kysely';
import { groupBy } from '../../rules/filters/group-by.ts';
import type { Db, Trx } from '../connection.ts';
import { prepared } from '../prepared.ts';

/**
 * Timers of a project that may end in one second, unless `timer_rate` says otherwise: a third of what Temporal does on
 * two slow cores with what comes after them, so that the rest is there for others.
 */
export const TIMERS_PER_SECOND = 10;
/** What a worker has told counts for so long. */
const RATE_SECONDS = 10;
/**
 * With each report the rate sinks by so much at the most: a pause between two bursts does not make the second one late.
 */
const SINKS_TO = 0.95;
/** And by this while what Temporal is handed begins late. */
const SINKS_TO_WHEN_LATE = 0.8;
/** Seconds looked at for room at once beside those that are needed; twice as many each time. */
const WINDOW_SECONDS = 64;
/** Bookings tried anew because another transaction took the room first; then a second may end a few more. */
const MAX_ROUNDS = 10;
/** Seconds that are over are kept this long, for clocks that go slow. */
const KEPT_SECONDS = 3_600;
const PRUNE_BATCH = 10_000;

export interface Timer {
  dueAt: Date;
  /** Called when it has to end later than asked for. */
  moveTo(at: Date): void;
}

/**
 * Books the ends of a project's timers in the caller's transaction, at most `per_second` in a second. A timer that
 * finds room stays exactly where it is; the others go to the next seconds that have room, so that the last of N is late
 * by N / `per_second` seconds. One statement where there is room. A full second knows where to look on, so a wave of
 * any size costs each group of timers the same.
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
 * Sets how many timers of a project may end in a second, for all processes; 0 is any number. Those that are booked stay
 * where they are.
 */
export async function setTimerRate(db: Db, perSecond: number): Promise<void> {
  await sql`
    INSERT INTO timer_rate (per_second) VALUES (${perSecond})
    ON CONFLICT (one) DO UPDATE SET per_second = excluded.per_second WHERE timer_rate.per_second <> excluded.per_second
  `.execute(db);
}

/** How Temporal follows: what it is handed begins soon, not too late, or late. */
export type Pace = 'easy' | 'busy' | 'late';

/**
 * A worker tells how many timers a second it sees Temporal follow. What all see together this installation can do, so
 * as many timers of one project may end in a second, however small or large it is: else a steady stream of delays that
 * it could follow would be late, and later all the time. More only while what it is handed begins soon: what is seen
 * of a server that is full is all that it can do, and leaves nothing to others.
 * @param p.atLeast what holds while little is seen
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
  /** Booked by others before. */
  before: number;
  nextSecond: number | null;
  perSecond: number;
}

function freeTimers(before: number, perSecond: number): number {
  return Math.max(0, perSecond - before);
}

/**
 * Counts timers into their seconds, whether or not there is room; in the order of the seconds, which is that of their
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

/** Books timers from a second on, where there is room. @returns the last second that it took */
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
      // Somebody else may have taken the room since it was seen.
      const room = round < MAX_ROUNDS ? freeTimers(before, perSecond) : placed.length;
      for (const [index, timer] of placed.slice(0, room).entries())
        timer.moveTo(instantOf(second, before + index, perSecond));
      timers.push(...placed.slice(room));
      from = Math.max(from, second);
    }
  }
  return from;
}

/** Evenly over the second. */
function instantOf(second: number, position: number, perSecond: number): Date {
  return new Date(second * 1_000 + Math.floor(((position % perSecond) * 1_000) / perSecond));
}

/** Where each of the timers finds room, from a second on. */
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
