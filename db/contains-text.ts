import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { escapeLike } from './escape-like.ts';

/**
 * Returns the predicate that one of the columns contains the text, regardless of case. Special characters of LIKE stand
 * for themselves. Without a text, every row matches. No index can be used for it, so the statement reads all rows that
 * its other conditions find.
 */
export function containsText(columns: readonly string[], part: string | undefined): RawBuilder<SqlBool> {
  if (!part) return sql<SqlBool>`true`;
  const pattern = `%${escapeLike(part)}%`;
  return sql<SqlBool>`(${sql.join(
    columns.map((column) => sql`${sql.ref(column)} ILIKE ${pattern}`),
    sql` OR `,
  )})`;
}
