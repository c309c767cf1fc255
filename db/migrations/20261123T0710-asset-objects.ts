import { type Kysely, sql } from 'kysely';

/**
 * Images whose bytes are in an S3-compatible store: the row names the object instead of holding the bytes. An object
 * without a row is listed in `asset_leftovers` from before its upload until after its deletion, so that a kill at any
 * moment leaves no unknown object. A trigger lists objects that lose their row, also by a cascade. No reference to
 * the project, because objects outlive it for a short time.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE assets ALTER COLUMN content DROP NOT NULL, ADD COLUMN object_key text UNIQUE,
      ADD CONSTRAINT assets_kept_once CHECK (num_nonnulls(content, object_key) = 1)
  `.execute(db);
  await sql`
    CREATE TABLE asset_leftovers (
      object_key text PRIMARY KEY,
      project_id uuid NOT NULL,
      due_at timestamptz NOT NULL
    )
  `.execute(db);
  await sql`CREATE INDEX asset_leftovers_due ON asset_leftovers (due_at)`.execute(db);
  await sql`
    CREATE FUNCTION note_asset_leftover() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO asset_leftovers (object_key, project_id, due_at) VALUES (OLD.object_key, OLD.project_id, now());
      RETURN NULL;
    END
    $$
  `.execute(db);
  await sql`
    CREATE TRIGGER assets_leftover AFTER DELETE ON assets FOR EACH ROW
      WHEN (OLD.object_key IS NOT NULL) EXECUTE FUNCTION note_asset_leftover()
  `.execute(db);
}
