import { type Kysely, sql } from 'kysely';

/** Stores when an email failed or was skipped. Null for emails that failed before this migration. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE emails ADD COLUMN IF NOT EXISTS failed_at timestamptz`.execute(db);
}
