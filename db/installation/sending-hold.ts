import { sql } from 'kysely';
import type { SendingHold } from '../../rules/installation-tokens.ts';
import type { Db } from '../connection.ts';

/** Why and since when the whole installation sends nothing. */
export interface InstallationHold {
  reason: SendingHold;
  since: Date;
}

/** The state of the installation that workers check regularly. */
export interface InstallationDuties {
  hold: InstallationHold | null;
  /** True if a recovery is requested, or a worker is running it. */
  recoveryDue: boolean;
  /** Age of the newest token in seconds, as Postgres computes it. Null if no token exists. */
  tokenSeconds: number | null;
}

const TOKEN_SECONDS = sql<number | null>`(
  SELECT extract(epoch FROM now() - max(rolled_at))::float8 FROM installation_tokens)`.as('tokenSeconds');

/** Reads the state that workers check, in one statement. Each worker runs it every few seconds. */
export async function readInstallationDuties(db: Db): Promise<InstallationDuties> {
  const row = await db
    .selectFrom('installation')
    .select(['sending_hold', 'sending_held_at', 'recovery_since', TOKEN_SECONDS])
    .executeTakeFirstOrThrow();
  const { sending_hold: reason, sending_held_at: since } = row;
  return {
    hold: reason && since ? { reason, since } : null,
    recoveryDue: row.recovery_since !== null,
    tokenSeconds: row.tokenSeconds,
  };
}

/** Reads the hold of the whole installation. Null if the installation may send. */
export async function readSendingHold(db: Db): Promise<InstallationHold | null> {
  return (await readInstallationDuties(db)).hold;
}

/**
 * Ends the hold of a clone, on request of its operator. If a recovery is requested, sending is still on hold until the
 * recovery is complete.
 * @returns the remaining hold; null when the installation may send
 */
export async function resumeSending(db: Db): Promise<InstallationHold | null> {
  await db
    .updateTable('installation')
    .set({ sending_hold: sql`CASE WHEN sending_hold IS NOT NULL AND recovery_since IS NOT NULL THEN 'recovery' END` })
    .execute();
  return readSendingHold(db);
}
