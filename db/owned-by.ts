import { type RawBuilder, sql } from 'kysely';

/**
 * That a row found by its id, or by another key that finds one row, belongs to this project: for prepared statements,
 * whose plan is made once for all tenants. Such a plan knows no more of a project than how many there are, nothing at
 * all in a young table, and takes it for a few rows: it would read all that a project has, by an index that begins with
 * `project_id`, instead of looking up ids. No index serves this.
 * @param column as the statement names it, such as `e.project_id`
 */
export function ownedBy(column: string, projectId: string | RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(${sql.ref(column)} = ${projectId}) IS TRUE`;
}
