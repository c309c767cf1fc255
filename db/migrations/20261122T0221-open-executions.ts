import { type Kysely, sql } from 'kysely';

/**
 * Executions that are under way, of all projects, in the order of their ids: housekeeping compares them with Temporal's, page by page.
 * An update that ends one is no heap-only update anyway (executions_active), so this costs an insert's share and nothing else.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`CREATE INDEX executions_open ON executions (id) WHERE completed_at IS NULL`.execute(db);
}
