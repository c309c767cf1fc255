import { type Kysely, sql } from 'kysely';

/**
 * The size of an attachment whose bytes were deleted by pruning; null until then. The index finds the attachments that
 * still have their bytes, in the order of their age, so that each run of the pruning reads only these attachments.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE attachments ADD COLUMN size int`.execute(db);
  await sql`CREATE INDEX attachments_with_content ON attachments (id) WHERE size IS NULL`.execute(db);
}
