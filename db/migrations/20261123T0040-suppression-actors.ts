import { type Kysely, sql } from 'kysely';

/** Adds the actor who suppressed an address, in addition to the source. Null for earlier suppressions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE suppressions ADD COLUMN actor text`.execute(db);
}
