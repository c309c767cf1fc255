import { type RawBuilder, sql } from 'kysely';

/**
 * An instant later than any row, and within the range of a UUIDv7. Newest-first lists without an end date start here.
 */
export const FAR_FUTURE = new Date('9000-01-01T00:00:00Z');

/**
 * Returns SQL for a lower bound of the UUIDv7s that are generated at an instant or later. A query by time can thus use
 * the index of ids, and no index on the instant is needed.
 */
export function firstIdAtSql(instant: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`(lpad(to_hex((extract(epoch FROM ${instant}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;
}

/**
 * The maximum difference between the time in a row's id and its `created_at`. Postgres (`uuidv7()`) or the process that
 * inserts the row writes its own time into the id. `created_at` is the start of the transaction in Postgres. No clock
 * differs this much, and no transaction takes this long.
 */
const CLOCKS_APART_MS = 3_600_000;
/** The last instant of a UUIDv7, which has 48 bits for its time. */
const ID_TIME_MAX_MS = 2 ** 48 - 1;

/**
 * Returns SQL for an id that is lower than the ids of all rows with `created_at` at this instant or later. A query with
 * this lower bound can use the index of ids.
 */
export function earliestIdSql(at: Date): RawBuilder<string> {
  return firstIdAtInstant(at.getTime() - CLOCKS_APART_MS);
}

/** Returns SQL for an id that is higher than the ids of all rows with `created_at` before this instant. */
export function latestIdSql(at: Date): RawBuilder<string> {
  return firstIdAtInstant(at.getTime() + CLOCKS_APART_MS);
}

/**
 * Returns the bound of `firstIdAtSql` for an instant that is known here. As a value and not an expression, Postgres can
 * estimate the number of rows, and does not compute the bound again for each row of a sequential scan.
 */
function firstIdAtInstant(ms: number): RawBuilder<string> {
  const hex = Math.min(Math.max(ms, 0), ID_TIME_MAX_MS).toString(16).padStart(12, '0');
  return sql<string>`${`${hex}${'0'.repeat(20)}`}::uuid`;
}
