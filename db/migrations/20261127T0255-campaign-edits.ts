import { type Kysely, sql } from 'kysely';

/**
 * Adds the time when the content of a campaign was last changed, which is the version of the campaign. `updated_at` is
 * not enough, because it also changes while the campaign is sent. Earlier campaigns have no value until their next
 * change; `updated_at` is used for them, so no row is rewritten.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE campaigns ADD COLUMN edited_at timestamptz`.execute(db);
  await sql`ALTER TABLE campaigns ALTER COLUMN edited_at SET DEFAULT now()`.execute(db);
}
