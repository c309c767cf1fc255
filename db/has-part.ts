import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { escapeLike } from './escape-like.ts';

/**
 * Whether one of the columns has this part, whatever its case; the signs that LIKE knows stand for themselves. Without
 * a part all do. No index helps: it reads what the rest of the statement finds.
 */
export function hasPart(columns: readonly string[], part: string | undefined): RawBuilder<SqlBool> {
  if (!part) return sql<SqlBool>`true`;
  const pattern = `%${escapeLike(part)}%`;
  return sql<SqlBool>`(${sql.join(
    columns.map((column) => sql`${sql.ref(column)} ILIKE ${pattern}`),
    sql` OR `,
  )})`;
}
