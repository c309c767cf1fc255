import { type RawBuilder, sql } from 'kysely';

/**
 * Returns the SQL condition that a row belongs to this project, for rows that are found by their id or another unique
 * key. Use this condition in prepared statements, whose plan is made once for all tenants. The planner does not know
 * the project then, and expects few rows per project. With a plain comparison of `project_id`, the planner would read
 * all rows of a project by an index that starts with `project_id`, instead of finding the ids. This condition is
 * written so that Postgres cannot use an index for it.
 * @param column the column as it is named in the statement, such as `e.project_id`
 */
export function isOwnedBySql(column: string, projectId: string | RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(${sql.ref(column)} = ${projectId}) IS TRUE`;
}
