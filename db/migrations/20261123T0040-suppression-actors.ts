import { type Kysely, sql } from 'kysely';

/** Who put an address on the suppression list, beside the way it came; of entries before it nobody knows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE suppressions ADD COLUMN actor text`.execute(db);
}
