import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type {
  DatabaseMark,
  InstallationChoice,
  LostWindow,
  PostgresToken,
  TemporalToken,
} from '../../rules/installation-tokens.ts';
import type { Db } from '../connection.ts';
import { inTransaction } from '../transaction.ts';
import { adoptTemporalToken, deleteTokens, insertToken, readTokens } from './tokens.ts';

/**
 * A mismatch between Postgres and Temporal when it was detected. `tokens` and `id` show whether another process has
 * resolved the mismatch in the meantime.
 */
export interface FoundMismatch {
  id: string;
  tokens: readonly PostgresToken[];
  database: DatabaseMark;
  temporal: TemporalToken | null | undefined;
}

/**
 * Declares this database the original. Stores Temporal's token if the database does not have it, and inserts a token
 * with a higher number. Postgres and Temporal agree when Temporal has also stored the new token. Sending is on hold
 * until recovery has run. Campaigns that may have been sent in the lost time (`window`: from the backup until now) are
 * PAUSED, because an operator has to check each of them.
 * @param p.endedCampaigns SCHEDULED campaigns whose workflow has ended in Temporal
 * @returns the number of paused campaigns, or undefined if another process has resolved the mismatch
 */
export function takeOverInstallation(
  db: Db,
  found: FoundMismatch,
  { window, endedCampaigns }: { window: LostWindow; endedCampaigns: string[] },
): Promise<{ paused: number } | undefined> {
  return inTransaction(db, async (trx) => {
    if (!(await isUnresolved(trx, found))) return undefined;
    const { temporal, tokens, database } = found;
    const isOurs = tokens.some(({ no, value }) => no === temporal?.no && value === temporal.value);
    if (temporal && !isOurs) await adoptTemporalToken(trx, temporal);
    await insertToken(trx, { no: Math.max(tokens[0]?.no ?? 0, temporal?.no ?? 0) + 1, database });
    await trx
      .updateTable('installation')
      .set({
        // Keeps the hold of a restored clone until its operator resumes sending.
        sending_hold: sql`coalesce(sending_hold, 'recovery')`,
        sending_held_at: sql`CASE WHEN sending_hold IS NULL THEN now() ELSE sending_held_at END`,
        recovery_since: sql`least(recovery_since, ${window.from}::timestamptz)`,
        recovery_leased_until: null,
        resolved_by: 'take-over',
      })
      .execute();
    return { paused: await pauseCampaigns(trx, window, endedCampaigns) };
  });
}

/**
 * Makes this database a separate installation. The installation gets a new id, so that it cannot change workflows of
 * the original in Temporal. It no longer uses the Temporal names of an earlier release, because the original uses these
 * names. Sending is on hold until its operator resumes sending.
 * @returns the new id, or undefined if another process has resolved the mismatch
 */
export function becomeNewInstallation(db: Db, found: FoundMismatch): Promise<{ id: string } | undefined> {
  return inTransaction(db, async (trx) => {
    if (!(await isUnresolved(trx, found))) return undefined;
    const id = randomUUID();
    await deleteTokens(trx);
    await insertToken(trx, { no: 1, database: found.database });
    await trx
      .updateTable('installation')
      .set({
        id,
        legacy_before: null,
        legacy_closed_at: null,
        sending_hold: 'new',
        sending_held_at: sql`now()`,
        // Temporal has no workflows with the new names yet, so everything must be recovered.
        recovery_since: sql`now()`,
        recovery_leased_until: null,
        resolved_by: 'new',
      })
      .execute();
    return { id };
  });
}

/**
 * Reads the value of INSTALLATION that has resolved a mismatch. The value is cleared when a process starts without that
 * variable.
 */
export async function readResolvedChoice(db: Db): Promise<InstallationChoice | null> {
  const row = await db.selectFrom('installation').select('resolved_by').executeTakeFirstOrThrow();
  return row.resolved_by;
}

/** Records that a value of INSTALLATION has resolved a mismatch, so that it does not resolve a later mismatch, too. */
export async function recordResolvedChoice(db: Db, choice: InstallationChoice): Promise<void> {
  await db.updateTable('installation').set({ resolved_by: choice }).execute();
}

/** Allows INSTALLATION to resolve a mismatch again, because a process started without the variable. */
export async function clearResolvedChoice(db: Db): Promise<void> {
  await db.updateTable('installation').set({ resolved_by: null }).where('resolved_by', 'is not', null).execute();
}

/**
 * Locks the row of the installation, and tells whether the mismatch still exists. If two processes start at the same
 * time, the second one finds the mismatch resolved.
 */
async function isUnresolved(trx: Db, found: FoundMismatch): Promise<boolean> {
  const { id } = await trx.selectFrom('installation').select('id').forUpdate().executeTakeFirstOrThrow();
  const [newest] = await readTokens(trx);
  return id === found.id && newest?.value === found.tokens[0]?.value;
}

/**
 * Pauses every campaign that was being sent at the time of the backup, should have started during the lost time, or is
 * SCHEDULED although its workflow has ended in Temporal. The workflow of a paused campaign sends nothing, because each
 * claim reads the status.
 */
async function pauseCampaigns(trx: Db, { to }: LostWindow, ended: string[]): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('campaigns')
    .set({ status: 'PAUSED', paused_reason: 'database_restored', updated_at: sql`now()` })
    .where(({ or, and, eb }) =>
      or([
        eb('status', '=', 'SENDING'),
        and([
          eb('status', '=', 'SCHEDULED'),
          or([eb('scheduled_at', '<=', to), sql<boolean>`id = ANY(${ended}::uuid[])`]),
        ]),
      ]),
    )
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Lists the SCHEDULED campaigns of all projects, with the number of their start. */
export async function listScheduledCampaigns(db: Db): Promise<{ campaignId: string; sendNo: number }[]> {
  return db
    .selectFrom('campaigns')
    .select(['id as campaignId', 'send_no as sendNo'])
    .where('status', '=', 'SCHEDULED')
    .execute();
}
