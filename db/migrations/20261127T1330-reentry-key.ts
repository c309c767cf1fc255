import { type Kysely, sql } from 'kysely';

/**
 * Adds the path whose value lets a contact have several executions of a workflow open, and the value as a hash. Both
 * are null for all existing rows, so no row is rewritten.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE workflows ADD COLUMN reentry_key text`.execute(db);
  await sql`ALTER TABLE executions ADD COLUMN reentry_value uuid`.execute(db);
}
