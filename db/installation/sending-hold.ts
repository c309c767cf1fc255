import { sql } from 'kysely';
import type { SendingHold } from '../../rules/installation-tokens.ts';
import type { Db } from '../connection.ts';

/** Why and since when nothing of the installation is sent. */
export interface InstallationHold {
  reason: SendingHold;
  since: Date;
}

/** The state of the installation that workers act on. */
export interface InstallationDuties {
  hold: InstallationHold | null;
  /** Recovery is due, or a worker runs it. */
  recoveryDue: boolean;
}

/** Reads whether the whole installation is on hold (null if it may send), and whether recovery is due. */
export async function readDuties(db: Db): Promise<InstallationDuties> {
  const row = await db
    .selectFrom('installation')
    .select(['sending_hold', 'sending_held_at', 'recovery_since'])
    .executeTakeFirstOrThrow();
  const { sending_hold: reason, sending_held_at: since } = row;
  return { hold: reason && since ? { reason, since } : null, recoveryDue: row.recovery_since !== null };
}

/** Reads the hold of the whole installation. Null while it may send. */
export async function readSendingHold(db: Db): Promise<InstallationHold | null> {
  return (await readDuties(db)).hold;
}

/**
 * Ends the hold of a clone, at the request of its operator. If recovery is due, sending still waits for it.
 * @returns the remaining hold; null when the installation may send
 */
export async function resumeSending(db: Db): Promise<InstallationHold | null> {
  await db
    .updateTable('installation')
    .set({ sending_hold: sql`CASE WHEN sending_hold IS NOT NULL AND recovery_since IS NOT NULL THEN 'recovery' END` })
    .execute();
  return readSendingHold(db);
}
