import { type Kysely, sql } from 'kysely';

/**
 * Adds whether a workflow, or a step that waits, reacts to automatic replies. NULL means no: the columns have no
 * default, so no row is rewritten.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE workflows ADD COLUMN include_automatic boolean`.execute(db);
  await sql`ALTER TABLE execution_waits ADD COLUMN include_automatic boolean`.execute(db);
}
