import { type Kysely, sql } from 'kysely';

/** SMS of runs that only try a workflow out: they are left out of feeds, as everything else of such runs is. Those of before stay in them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE sms_messages ADD COLUMN sandbox boolean NOT NULL DEFAULT false`.execute(db);
}
