import { type RawBuilder, sql } from 'kysely';

/** Later than any row, and what a UUIDv7 can still hold: where a list begins that has no end given. */
export const FAR_FUTURE = new Date('9000-01-01T00:00:00Z');

/**
 * The least UUIDv7 of an instant, in SQL: rows made since then have that id or a greater one, so no index on the
 * instant is needed.
 */
export function firstIdAt(instant: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`(lpad(to_hex((extract(epoch FROM ${instant}) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid`;
}

/**
 * An id is of the clock of the process that made it, and of the moment: more than any of them is off, or a transaction
 * takes.
 */
const CLOCKS_APART_MS = 3_600_000;

/** An id before those of all rows with `created_at` at this instant or later: it bounds a walk through the index of ids. */
export function earliestIdOf(at: Date): RawBuilder<string> {
  return firstIdAt(sql`${new Date(at.getTime() - CLOCKS_APART_MS)}::timestamptz`);
}

/** An id after those of all rows with `created_at` before this instant. */
export function latestIdOf(at: Date): RawBuilder<string> {
  return firstIdAt(sql`${new Date(at.getTime() + CLOCKS_APART_MS)}::timestamptz`);
}
