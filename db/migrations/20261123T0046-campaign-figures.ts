import { type Kysely, sql } from 'kysely';

/**
 * Stores the statistics of a chunk's recipients with the chunk, so that the statistics of a million recipients need
 * only a few hundred rows. Statistics are stored only while no worker is sending the chunk (`busy`). A later event of
 * an email is recorded in `campaign_touches`, and the chunk is counted again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE campaign_chunks ADD COLUMN figures jsonb, ADD COLUMN busy boolean NOT NULL DEFAULT false`.execute(
    db,
  );
  // There is no unique key. With one, a writer whose row already exists would insert nothing, although a reader may be
  // deleting the existing row.
  await sql`
    CREATE TABLE campaign_touches (campaign_id uuid NOT NULL, email_id uuid NOT NULL, project_id uuid NOT NULL)
  `.execute(db);
  await sql`CREATE INDEX campaign_touches_email ON campaign_touches (campaign_id, email_id)`.execute(db);
}
