import { type Kysely, sql } from 'kysely';

/** Counters of the rate limits, and a notification to every API process when a key or a project has changed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Unlogged: a crash of Postgres loses the counts of one minute, and a request does not have to write WAL.
  await sql`
    CREATE UNLOGGED TABLE rate_windows (
      subject text PRIMARY KEY,
      taken int NOT NULL,
      started_at timestamptz NOT NULL
    ) WITH (fillfactor = 50)`.execute(db);
  // A trigger reports every change of a key or a project at once, including changes by an operator's SQL.
  await sql`
    CREATE FUNCTION notify_access_changed() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('access_changed', CASE TG_TABLE_NAME WHEN 'projects' THEN OLD.id ELSE (to_jsonb(OLD)->>'project_id')::uuid END::text);
      RETURN NULL;
    END $$`.execute(db);
  await sql`
    CREATE TRIGGER api_keys_access_changed
    AFTER UPDATE OF key_hash, scopes, mode, expires_at, revoked_at OR DELETE ON api_keys
    FOR EACH ROW EXECUTE FUNCTION notify_access_changed()`.execute(db);
  await sql`
    CREATE TRIGGER projects_access_changed AFTER UPDATE OR DELETE ON projects
    FOR EACH ROW EXECUTE FUNCTION notify_access_changed()`.execute(db);
}
