import { type Kysely, sql } from 'kysely';

/** SMS of runs that test a workflow. Feeds omit them, like everything else of such runs. Earlier ones stay in feeds. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE sms_messages ADD COLUMN sandbox boolean NOT NULL DEFAULT false`.execute(db);
}
