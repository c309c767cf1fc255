import { sql } from 'kysely';
import type { Db } from '../connection.ts';

/** Asks for a recovery of what happened from `since` on; one that is due already reaches back as far as both. */
export async function requestRecovery(db: Db, since: Date): Promise<void> {
  await db
    .updateTable('installation')
    .set({ recovery_since: sql`least(recovery_since, ${since}::timestamptz)` })
    .execute();
}

/**
 * Takes the recovery that is due for some seconds, so that one worker of many runs it.
 * @returns since when, or undefined if no recovery is due or another worker runs it
 */
export async function takeRecovery(db: Db, leaseSeconds: number): Promise<Date | undefined> {
  const row = await db
    .updateTable('installation')
    .set({ recovery_leased_until: sql`now() + make_interval(secs => ${leaseSeconds})` })
    .where('recovery_since', 'is not', null)
    .where(({ or, eb }) =>
      or([eb('recovery_leased_until', 'is', null), eb('recovery_leased_until', '<', sql<Date>`now()`)]),
    )
    .returning('recovery_since')
    .executeTakeFirst();
  return row?.recovery_since ?? undefined;
}

/** Keeps a recovery that takes longer than its lease. */
export async function renewRecovery(db: Db, leaseSeconds: number): Promise<void> {
  await db
    .updateTable('installation')
    .set({ recovery_leased_until: sql`now() + make_interval(secs => ${leaseSeconds})` })
    .where('recovery_since', 'is not', null)
    .execute();
}

/** Gives a recovery back that failed, so that the next attempt need not wait for its lease. */
export async function giveBackRecovery(db: Db): Promise<void> {
  await db.updateTable('installation').set({ recovery_leased_until: null }).execute();
}

/** Ends the recovery, and with it the hold of a restored database. */
export async function finishRecovery(db: Db): Promise<void> {
  await db
    .updateTable('installation')
    .set({
      recovery_since: null,
      recovery_leased_until: null,
      sending_hold: sql`nullif(sending_hold, 'recovery')`,
    })
    .execute();
}
