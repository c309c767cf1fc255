import { type Kysely, sql } from 'kysely';

/**
 * Adds the zone of date-times without an offset to `tidings_ts`. A date alone is still midnight UTC. A skipped local
 * time moves forward, and a repeated one is its first occurrence, as `instantOf` of rules/time/local-time.ts decides.
 * Postgres takes the second occurrence, so the instants an hour and half an hour before (Lord Howe) come first.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION tidings_ts(value jsonb, zone text) RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE
      WHEN tidings_ts(value) IS NULL THEN NULL
      WHEN (value #>> '{}') ~ '^.{10}$|(Z|:[0-9.]+[+-][0-9]{2}:?[0-9]{2})$' THEN tidings_ts(value)
      ELSE (
        SELECT CASE
          WHEN (later - interval '1 hour') AT TIME ZONE zone = wall THEN later - interval '1 hour'
          WHEN (later - interval '30 minutes') AT TIME ZONE zone = wall THEN later - interval '30 minutes'
          ELSE later
        END
        FROM (SELECT tidings_ts(value) AT TIME ZONE 'UTC' AS wall,
          (tidings_ts(value) AT TIME ZONE 'UTC') AT TIME ZONE zone AS later) AS read
      )
    END`.execute(db);
}
