import { type Kysely, sql } from 'kysely';

/**
 * Stores the waiting chunks (for the provider, a local time or a sending window) with the campaign, so that the state
 * of its workflow does not grow with the number of recipients. Columns without a default change the catalog only.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE campaign_chunks
      ADD COLUMN due_at timestamptz,
      ADD COLUMN due_clock text,
      ADD COLUMN deferred_since timestamptz,
      ADD COLUMN deferrals int,
      ADD COLUMN resume_id uuid,
      ADD COLUMN resume_deferred boolean`.execute(db);
}
