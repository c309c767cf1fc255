import { type Kysely, sql } from 'kysely';

/**
 * Functions that the filter compiler calls (db/segments/filter-sql.ts). `tidings_ts` returns the instant of a JSON
 * string in ISO 8601 form, and NULL for other values; it never raises an error. The function accepts the same form as
 * `parseIsoDate` in rules/filters/values.ts. A string without a zone means UTC, whatever the session's TimeZone is. The
 * function is STABLE and not IMMUTABLE, because Postgres only inlines it into the query then; a call would cost about
 * as much as the rest of the query. The LIKE comes first because it is ten times as fast as the regular expression, and
 * excludes most values.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION tidings_ts(value jsonb) RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE
      WHEN (value #>> '{}') LIKE '____-__-__%'
        AND jsonb_typeof(value) = 'string'
        AND (value #>> '{}') ~ '^[1-9][0-9]{3}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?(Z|[+-](0[0-9]|1[0-4]):?[0-5][0-9])?)?$'
        AND pg_input_is_valid(value #>> '{}', 'timestamptz')
      THEN CASE
        WHEN (value #>> '{}') ~ '(Z|:[0-9.]+[+-][0-9]{2}:?[0-9]{2})$' THEN (value #>> '{}')::timestamptz
        ELSE ((value #>> '{}') || ' UTC')::timestamptz
      END
    END`.execute(db);
}
