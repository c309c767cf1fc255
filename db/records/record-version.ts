import { type RawBuilder, sql } from 'kysely';

/**
 * The moment of a change, which names the version of a record: later than the last one by a millisecond at least,
 * because answers have milliseconds and two changes may come within one.
 */
export function nextVersion(column: 'updated_at' | 'edited_at' = 'updated_at'): RawBuilder<Date> {
  return sql<Date>`greatest(now(), ${sql.ref(column)} + interval '1 millisecond')`;
}
