import { type Kysely, sql } from 'kysely';

/**
 * Adds whether a workflow, or a step that waits, reacts to automatic emails. NULL means no: the columns have no
 * default, so that the migration writes no row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE workflows ADD COLUMN include_automatic boolean`.execute(db);
  await sql`ALTER TABLE execution_waits ADD COLUMN include_automatic boolean`.execute(db);
}
