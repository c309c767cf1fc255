import { type Kysely, sql } from 'kysely';

/**
 * Gives the installation an id, which is part of its names in Temporal. Databases of earlier releases also get
 * `legacy_before`: rows from before this instant keep the names of those releases. Processes of the earlier release may
 * still run during an upgrade, and start workflows with such names. If such a process is connected, the instant is one
 * hour in the future. The instant is always later than any existing id, even if the host that created the id had a
 * clock that was ahead.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE installation (
      singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
      id uuid NOT NULL DEFAULT gen_random_uuid(),
      created_at timestamptz NOT NULL DEFAULT now(),
      legacy_before timestamptz,
      legacy_closed_at timestamptz
    )`.execute(db);
  await sql`
    INSERT INTO installation (legacy_before)
    SELECT CASE
      -- A new database has only rows of this transaction here.
      WHEN NOT EXISTS (SELECT FROM kysely_migration WHERE xmin::text <> (pg_current_xact_id()::xid)::text) THEN NULL
      WHEN EXISTS (SELECT FROM processes WHERE seen_at > now() - interval '35 seconds')
        OR EXISTS (SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND application_name IN ('tidings-api', 'tidings-worker'))
      THEN now() + interval '1 hour'
      ELSE greatest(now(), (
        SELECT max(uuid_extract_timestamp(id)) + interval '1 ms' FROM (
          (SELECT id FROM executions ORDER BY id DESC LIMIT 1) UNION ALL
          (SELECT id FROM campaigns ORDER BY id DESC LIMIT 1) UNION ALL
          (SELECT id FROM jobs ORDER BY id DESC LIMIT 1) UNION ALL
          (SELECT id FROM webhook_endpoints ORDER BY id DESC LIMIT 1) UNION ALL
          (SELECT id FROM outbox ORDER BY id DESC LIMIT 1)
        ) AS latest))
    END`.execute(db);
}
