import { type Kysely, sql } from 'kysely';

/**
 * Adds the moment at which the content of a campaign was last changed: it names the campaign's version, while
 * `updated_at` also moves with the progress of its sending. Campaigns from before have none until their next change,
 * and are read with `updated_at`, so no row is written.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE campaigns ADD COLUMN edited_at timestamptz`.execute(db);
  await sql`ALTER TABLE campaigns ALTER COLUMN edited_at SET DEFAULT now()`.execute(db);
}
