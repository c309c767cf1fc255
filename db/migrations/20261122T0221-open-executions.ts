import { type Kysely, sql } from 'kysely';

/**
 * Index of running executions of all projects, in the order of their ids. Housekeeping compares them with Temporal's,
 * page by page. An update that ends an execution is not heap-only anyway (executions_active), so the index costs its
 * share of an insert and nothing else.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE INDEX executions_open ON executions (id) WHERE completed_at IS NULL`.execute(db);
}
