import { type Kysely, sql } from 'kysely';

/**
 * Adds when the content of a campaign was last changed, which is the campaign's version. `updated_at` also changes
 * while the campaign is sent. Earlier campaigns have no value until their next change, and are read with
 * `updated_at`, so no row is written.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE campaigns ADD COLUMN edited_at timestamptz`.execute(db);
  await sql`ALTER TABLE campaigns ALTER COLUMN edited_at SET DEFAULT now()`.execute(db);
}
