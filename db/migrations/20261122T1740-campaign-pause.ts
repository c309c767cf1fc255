import { type Kysely, sql } from 'kysely';

/** Adds PAUSED campaigns, with the reason. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE campaigns ADD COLUMN paused_reason text, DROP CONSTRAINT campaigns_status_check`.execute(db);
  await sql`
    ALTER TABLE campaigns ADD CONSTRAINT campaigns_status_check
      CHECK (status IN ('DRAFT', 'SCHEDULED', 'SENDING', 'PAUSED', 'SENT', 'CANCELLED')),
      ADD CONSTRAINT campaigns_paused_reason CHECK ((status = 'PAUSED') = (paused_reason IS NOT NULL))`.execute(db);
}
