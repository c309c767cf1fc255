import { type Kysely, sql } from 'kysely';

/** Adds the rules for requests with the public key. Null means `protected`, so no row is rewritten. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE projects ADD COLUMN public_key_open boolean`.execute(db);
}
