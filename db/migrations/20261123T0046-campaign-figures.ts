import { type Kysely, sql } from 'kysely';

/**
 * Outcomes of a chunk's recipients, stored with the chunk, so that the statistics of a million recipients cost a few
 * hundred rows. They are stored while nothing can change them, that is, while the chunk is in no turn (`busy`). A
 * later event of an email is noted in `campaign_touches`, and the chunk is counted again.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE campaign_chunks ADD COLUMN figures jsonb, ADD COLUMN busy boolean NOT NULL DEFAULT false`.execute(
    db,
  );
  // There is no unique key. A writer that found its note already there would rely on a note that a reader may be
  // deleting.
  await sql`
    CREATE TABLE campaign_touches (campaign_id uuid NOT NULL, email_id uuid NOT NULL, project_id uuid NOT NULL)
  `.execute(db);
  await sql`CREATE INDEX campaign_touches_email ON campaign_touches (campaign_id, email_id)`.execute(db);
}
