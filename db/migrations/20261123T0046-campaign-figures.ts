import { type Kysely, sql } from 'kysely';

/**
 * What became of a chunk's recipients, kept with the chunk: figures of a million cost reading some hundred rows. Kept while nothing can change
 * them, which is when no turn is at the chunk (`busy`). What comes back about a mail later is noted in `campaign_touches`, and the chunk is counted anew.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE campaign_chunks ADD COLUMN figures jsonb, ADD COLUMN busy boolean NOT NULL DEFAULT false`.execute(
    db,
  );
  // Without a key that is unique: who finds his note there already would rely on one that a reader is just taking away.
  await sql`
    CREATE TABLE campaign_touches (campaign_id uuid NOT NULL, email_id uuid NOT NULL, project_id uuid NOT NULL)
  `.execute(db);
  await sql`CREATE INDEX campaign_touches_email ON campaign_touches (campaign_id, email_id)`.execute(db);
}
