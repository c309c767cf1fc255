import { type Kysely, sql } from 'kysely';

/**
 * An index of open executions of all projects, in the order of their ids. Recovery compares them with Temporal's
 * workflows, page by page. The update that ends an execution is not heap-only because of another index
 * (executions_active), so this index only adds to the cost of an insert.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE INDEX executions_open ON executions (id) WHERE completed_at IS NULL`.execute(db);
}
