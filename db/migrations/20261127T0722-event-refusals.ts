import { type Kysely, sql } from 'kysely';

/**
 * Adds the workflows that an event triggered but did not start, with the reasons. The column is null for most events,
 * and has no default, so no row is rewritten.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE events ADD COLUMN not_started jsonb`.execute(db);
}
