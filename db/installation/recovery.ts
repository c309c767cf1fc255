import { sql } from 'kysely';
import type { Db } from '../connection.ts';

/**
 * Requests a recovery of everything that happened since `since`. If a recovery is already requested, the earlier of the
 * two instants is stored.
 */
export async function requestRecovery(db: Db, since: Date): Promise<void> {
  await db
    .updateTable('installation')
    .set({ recovery_since: sql`least(recovery_since, ${since}::timestamptz)` })
    .execute();
}

/**
 * Takes a lease on the requested recovery for some seconds, so that only one worker runs it.
 * @returns the instant since which to recover, or undefined if no recovery is requested or another worker runs it
 */
export async function leaseRecovery(db: Db, leaseSeconds: number): Promise<Date | undefined> {
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

/** Renews the lease of a running recovery, which may take longer than its lease. */
export async function renewRecoveryLease(db: Db, leaseSeconds: number): Promise<void> {
  await db
    .updateTable('installation')
    .set({ recovery_leased_until: sql`now() + make_interval(secs => ${leaseSeconds})` })
    .where('recovery_since', 'is not', null)
    .execute();
}

/** Releases the lease after a failed recovery, so that the next attempt need not wait until the lease expires. */
export async function releaseRecoveryLease(db: Db): Promise<void> {
  await db.updateTable('installation').set({ recovery_leased_until: null }).execute();
}

/** Records that the recovery is complete, and ends the hold of a restored database. */
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
