import { type Kysely, sql } from 'kysely';

/**
 * Size of an attachment's bytes, once housekeeping has deleted them; until then null. The index finds the attachments
 * that still have their bytes, in the order of age, so that a round costs only the kept ones.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE attachments ADD COLUMN size int`.execute(db);
  await sql`CREATE INDEX attachments_with_content ON attachments (id) WHERE size IS NULL`.execute(db);
}
