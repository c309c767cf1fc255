import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { escapeLike } from './escape-like.ts';

/**
 * Returns the SQL condition that at least one of the columns contains the text, in upper or lower case. The characters
 * % and _ match only themselves. Without a text, every row matches. No index serves this condition, so the statement
 * reads all rows that its other conditions find.
 */
export function containsTextSql(columns: readonly string[], part: string | undefined): RawBuilder<SqlBool> {
  if (!part) return sql<SqlBool>`true`;
  const pattern = `%${escapeLike(part)}%`;
  return sql<SqlBool>`(${sql.join(
    columns.map((column) => sql`${sql.ref(column)} ILIKE ${pattern}`),
    sql` OR `,
  )})`;
}
