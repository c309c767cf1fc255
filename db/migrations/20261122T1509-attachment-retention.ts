import { type Kysely, sql } from 'kysely';

/**
 * What an attachment's bytes were, once housekeeping has dropped them; until then null. The index finds those that still have theirs, in the order of
 * their age, so a round costs what is kept and not what ever was.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE attachments ADD COLUMN size int`.execute(db);
  await sql`CREATE INDEX attachments_with_content ON attachments (id) WHERE size IS NULL`.execute(db);
}
