import { type Kysely, sql } from 'kysely';

/**
 * Adds variants of a campaign. A recipient's row has the number of its variant, from 0. All recipients of a chunk have
 * the same variant and so the same content. Chunks of recipients who wait for the winner have negative numbers until
 * the winner is known.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE campaigns
      ADD COLUMN variants jsonb,
      ADD COLUMN variant_test jsonb,
      ADD COLUMN variant_content_ids uuid[],
      ADD COLUMN test_ends_at timestamptz,
      ADD COLUMN winner smallint,
      ADD COLUMN winner_by text CHECK (winner_by IN ('test', 'hand')),
      ADD COLUMN winner_at timestamptz,
      ADD CONSTRAINT campaigns_winner CHECK ((winner IS NULL) = (winner_at IS NULL) AND (winner IS NULL) = (winner_by IS NULL))`.execute(
    db,
  );
  await sql`
    ALTER TABLE campaign_chunks ADD COLUMN variant smallint, ADD COLUMN rest boolean NOT NULL DEFAULT false`.execute(
    db,
  );
  await sql`ALTER TABLE emails ADD COLUMN variant smallint`.execute(db);
}
