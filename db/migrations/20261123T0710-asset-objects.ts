import { type Kysely, sql } from 'kysely';

/**
 * Allows images whose bytes are in an S3-compatible store: the row has the object's key instead of the bytes.
 * `asset_leftovers` lists each object without a row: from before its upload until its row is inserted, and from the
 * deletion of its row until the object is deleted. A killed process therefore never leaves an unknown object. A trigger
 * adds objects whose row is deleted, also by a cascade. The table has no foreign key to the project, because objects
 * exist for a short time after the project is deleted.
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
