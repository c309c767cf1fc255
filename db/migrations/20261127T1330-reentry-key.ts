import { type Kysely, sql } from 'kysely';

/**
 * Adds `reentry_key`, a path in the event's data: a contact may have one open execution of the workflow per value at
 * this path. Also adds the hash of this value. The new columns are null for existing rows, so no row is rewritten.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE workflows ADD COLUMN reentry_key text`.execute(db);
  await sql`ALTER TABLE executions ADD COLUMN reentry_value uuid`.execute(db);
}
