import { type Kysely, sql } from 'kysely';

/**
 * Adds the actor of a subscription change, for the timeline of a contact. Null for events from before this migration.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE events ADD COLUMN actor text`.execute(db);
}
