import { type Kysely, sql } from 'kysely';

/**
 * Adds the values that the last check found in DNS for each of a domain's records. `found` only tells whether the
 * values matched.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE domains ADD COLUMN seen jsonb NOT NULL DEFAULT '{}'`.execute(db);
}
