import { sql } from 'kysely';
import { groupBy } from '../../rules/filters/group-by.ts';
import type { Db, Trx } from '../connection.ts';
import { prepared } from '../prepared.ts';

/**
 * Number of a project's timers that end at their own time in one second. Each further timer ends 10 ms after the one
 * before it. Temporal fires due timers in one order for all tenants, so thousands at one instant, such as DELAYs until
 * nine o'clock, would delay the executions of every other tenant. Two cores run 30 to 50 executions per second, so a
 * wave still keeps the server busy from start to end.
 */
export const TIMERS_PER_SECOND = 100;
/** How long past seconds are kept, for hosts whose time runs slow. */
const KEPT_SECONDS = 3_600;
const PRUNE_BATCH = 10_000;

export interface Timer {
  dueAt: Date;
  /** Called if the timer has to end later than requested. */
  moveTo(at: Date): void;
}

/**
 * Counts timers of a project by the second of their end, in the caller's transaction, and moves the ones that come
 * after `TIMERS_PER_SECOND` of the same second. The last of N is N / `TIMERS_PER_SECOND` seconds late. The seconds are
 * written in their order, which is the order of their locks.
 */
export async function bookTimers(trx: Trx, p: { projectId: string; timers: Timer[] }): Promise<void> {
  const { projectId, timers } = p;
  if (timers.length === 0) return;
  const asked = groupBy(timers, (timer) => Math.floor(timer.dueAt.getTime() / 1_000));
  const seconds = [...asked.keys()].sort((a, b) => a - b);
  const { rows } = await prepared<{ second: number; booked: number }>`
    INSERT INTO timer_seconds AS t (project_id, second, booked)
    SELECT ${projectId}::uuid, u.second, u.asked FROM unnest(${seconds}::bigint[],
      ${seconds.map((second) => asked.get(second)?.length ?? 0)}::int[]) AS u (second, asked)
    ORDER BY u.second
    ON CONFLICT (project_id, second) DO UPDATE SET booked = t.booked + excluded.booked
    RETURNING second, booked
  `.execute(trx);
  for (const { second, booked } of rows) {
    const mine = asked.get(second) ?? [];
    for (const [index, timer] of mine.entries()) {
      const position = booked - mine.length + index;
      if (position >= TIMERS_PER_SECOND)
        timer.moveTo(new Date(timer.dueAt.getTime() + (position * 1_000) / TIMERS_PER_SECOND));
    }
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
