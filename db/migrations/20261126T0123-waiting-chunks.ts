import { type Kysely, sql } from 'kysely';

/**
 * Stores with the campaign which chunks wait (for the provider, a local time or a sending window). The state of the
 * campaign's Temporal workflow thus does not grow with the number of recipients. Adding columns without a default
 * rewrites no table.
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
