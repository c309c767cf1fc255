import { type Kysely, sql } from 'kysely';

/**
 * Adds to `tidings_ts` the time zone for date-times without an offset. A date without a time still means midnight in
 * UTC. A skipped local time is moved forward, and for a repeated local time the first occurrence is used, as in
 * `toInstant` of rules/time/local-time.ts. For a repeated local time, Postgres itself uses the second occurrence. The
 * function therefore tries the instants one hour and half an hour earlier first (half an hour for Lord Howe).
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
