import { type RawBuilder, sql } from 'kysely';

/**
 * Returns SQL for the time of a change, which is also the version of the record. The new version is at least 1 ms later
 * than the previous one: responses contain milliseconds, and two changes can happen within one millisecond.
 */
export function nextVersionSql(column: 'updated_at' | 'edited_at' = 'updated_at'): RawBuilder<Date> {
  return sql<Date>`greatest(now(), ${sql.ref(column)} + interval '1 millisecond')`;
}
