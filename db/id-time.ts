import { type RawBuilder, sql } from 'kysely';

/** Later than any row, and within the range of a UUIDv7. Lists without a given end start here. */
export const FAR_FUTURE = new Date('9000-01-01T00:00:00Z');

/**
 * Returns the smallest UUIDv7 of an instant, in SQL. Rows created since then have this id or a greater one, so no
 * index on the instant is needed.
 */
export function firstIdAt(instant: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`(lpad(to_hex((extract(epoch FROM ${instant}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;
}

/**
 * The maximum difference between the time in an id and `created_at`. The time in an id comes from the process that
 * created it. No process has a time that is this wrong, and no transaction takes this long.
 */
const CLOCKS_APART_MS = 3_600_000;

/**
 * Returns an id before the ids of all rows with `created_at` at this instant or later. It bounds a scan of the index
 * of ids.
 */
export function earliestIdOf(at: Date): RawBuilder<string> {
  return firstIdAt(sql`${new Date(at.getTime() - CLOCKS_APART_MS)}::timestamptz`);
}

/** Returns an id after the ids of all rows with `created_at` before this instant. */
export function latestIdOf(at: Date): RawBuilder<string> {
  return firstIdAt(sql`${new Date(at.getTime() + CLOCKS_APART_MS)}::timestamptz`);
}
