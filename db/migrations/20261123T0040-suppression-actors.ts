import { type Kysely, sql } from 'kysely';

/** Actor that suppressed an address, beside the way it happened. Unknown for earlier entries. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE suppressions ADD COLUMN actor text`.execute(db);
}
