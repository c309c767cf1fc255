import { type RawBuilder, sql } from 'kysely';

/**
 * Returns the predicate that a row, found by its id or another unique key, belongs to this project. For prepared
 * statements, whose plan is made once for all tenants. Such a plan does not know the project, and expects few rows per
 * project. It would read all rows of a project by an index that starts with `project_id`, instead of looking up ids.
 * This predicate is written so that no index can be used for it.
 * @param column as the statement names it, such as `e.project_id`
 */
export function ownedBy(column: string, projectId: string | RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(${sql.ref(column)} = ${projectId}) IS TRUE`;
}
