import { type Kysely, sql } from 'kysely';

/**
 * Images for emails, which are served to anyone who knows the hash. The hash is computed from the project and the
 * bytes. The hash therefore identifies one row, and does not reveal whether another project has the same image.
 * Postgres stores images uncompressed, because they are already compressed and are read slice by slice. Templates,
 * campaigns and contents store which images are in their body, so that unused images can be found without reading all
 * bodies. Triggers search the body for images when it changes.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE assets (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      hash text NOT NULL,
      filename text,
      content_type text NOT NULL,
      bytes integer NOT NULL,
      width integer NOT NULL,
      height integer NOT NULL,
      content bytea NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now(),
      CONSTRAINT assets_hash UNIQUE (hash)
    )
  `.execute(db);
  await sql`ALTER TABLE assets ALTER COLUMN content SET STORAGE EXTERNAL`.execute(db);
  await sql`CREATE INDEX assets_project ON assets (project_id, id)`.execute(db);
  await sql`
    CREATE FUNCTION asset_hashes(said text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT array_agg(DISTINCT found[1]) FROM regexp_matches(said, '/assets/([0-9a-f]{64})', 'g') found
    $$
  `.execute(db);
  await sql`
    CREATE FUNCTION keep_asset_hashes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.asset_hashes := asset_hashes(NEW.body);
      RETURN NEW;
    END
    $$
  `.execute(db);
  await sql`
    CREATE FUNCTION keep_campaign_asset_hashes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.asset_hashes := asset_hashes(NEW.body || ' ' || coalesce(NEW.variants::text, ''));
      RETURN NEW;
    END
    $$
  `.execute(db);
  for (const table of ['templates', 'campaigns', 'contents']) await keepHashesOf(db, table);
}

async function keepHashesOf(db: Kysely<unknown>, table: string): Promise<void> {
  const said = table === 'campaigns' ? "(NEW.body || coalesce(NEW.variants::text, ''))" : 'NEW.body';
  const columns = table === 'campaigns' ? 'body, variants' : 'body';
  const keep = table === 'campaigns' ? 'keep_campaign_asset_hashes' : 'keep_asset_hashes';
  await sql.raw(`ALTER TABLE ${table} ADD COLUMN asset_hashes text[]`).execute(db);
  await sql
    .raw(`CREATE INDEX ${table}_assets ON ${table} USING gin (asset_hashes) WHERE asset_hashes IS NOT NULL`)
    .execute(db);
  await sql
    .raw(
      `CREATE TRIGGER ${table}_assets_new BEFORE INSERT ON ${table} FOR EACH ROW
        WHEN (strpos(${said}, '/assets/') > 0) EXECUTE FUNCTION ${keep}()`,
    )
    .execute(db);
  await sql
    .raw(
      `CREATE TRIGGER ${table}_assets_changed BEFORE UPDATE OF ${columns} ON ${table} FOR EACH ROW
        WHEN (NEW.asset_hashes IS NOT NULL OR strpos(${said}, '/assets/') > 0) EXECUTE FUNCTION ${keep}()`,
    )
    .execute(db);
}
