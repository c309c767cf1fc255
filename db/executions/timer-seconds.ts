import { sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';
import { prepared } from '../prepared.ts';

/** How long the counts of past seconds are kept. Needed for hosts whose clock is behind. */
const KEPT_SECONDS = 3_600;
const PRUNE_BATCH = 10_000;

/**
 * Adds timers of a project to the counts of the seconds in which they end, in the caller's transaction.
 * `listUpcomingHours` reads these counts. The seconds are written in ascending order, so that concurrent transactions
 * lock their rows in the same order.
 */
export async function recordTimerEnds(trx: Trx, p: { projectId: string; ends: Date[] }): Promise<void> {
  if (p.ends.length === 0) return;
  const counts = new Map<number, number>();
  for (const end of p.ends) {
    const second = Math.floor(end.getTime() / 1_000);
    counts.set(second, (counts.get(second) ?? 0) + 1);
  }
  await prepared`
    INSERT INTO timer_seconds AS t (project_id, second, booked)
    SELECT ${p.projectId}::uuid, u.second, u.timers
    FROM unnest(${[...counts.keys()]}::bigint[], ${[...counts.values()]}::int[]) AS u (second, timers) ORDER BY u.second
    ON CONFLICT (project_id, second) DO UPDATE SET booked = t.booked + excluded.booked
  `.execute(trx);
}

/** Deletes the counts of past seconds. Safe to run twice, and at any time. */
export async function deletePassedTimerSeconds(db: Db): Promise<void> {
  while (true) {
    const { numAffectedRows } = await sql`
      DELETE FROM timer_seconds WHERE ctid IN (SELECT ctid FROM timer_seconds
        WHERE second < extract(epoch FROM now()) - ${KEPT_SECONDS} LIMIT ${PRUNE_BATCH})
    `.execute(db);
    if ((numAffectedRows ?? 0n) < PRUNE_BATCH) return;
  }
}
