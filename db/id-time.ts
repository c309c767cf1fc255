import { type RawBuilder, sql } from 'kysely';

/** An instant later than any row, and within the range of a UUIDv7. Lists without an end date start here. */
export const FAR_FUTURE = new Date('9000-01-01T00:00:00Z');

/**
 * Returns SQL for the smallest UUIDv7 of an instant. Rows created since that instant have this id or a greater one, so
 * no index on the instant is needed.
 */
export function firstIdAtSql(instant: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`(lpad(to_hex((extract(epoch FROM ${instant}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;
}

/**
 * The maximum difference between the time in a row's id and its `created_at`. The process that inserts the row takes
 * the time in the id from its own clock. No clock differs this much, and no transaction takes this long.
 */
const CLOCKS_APART_MS = 3_600_000;

/**
 * Returns SQL for an id that is lower than the ids of all rows with `created_at` at this instant or later. A query with
 * this lower bound can use the index of ids.
 */
export function earliestIdSql(at: Date): RawBuilder<string> {
  return firstIdAtSql(sql`${new Date(at.getTime() - CLOCKS_APART_MS)}::timestamptz`);
}

/** Returns SQL for an id that is higher than the ids of all rows with `created_at` before this instant. */
export function latestIdSql(at: Date): RawBuilder<string> {
  return firstIdAtSql(sql`${new Date(at.getTime() + CLOCKS_APART_MS)}::timestamptz`);
}
