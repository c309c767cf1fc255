import { type Kysely, sql } from 'kysely';

/**
 * Marks SMS of sandbox executions, which feeds omit. SMS from before this migration are not marked and stay in feeds.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE sms_messages ADD COLUMN sandbox boolean NOT NULL DEFAULT false`.execute(db);
}
