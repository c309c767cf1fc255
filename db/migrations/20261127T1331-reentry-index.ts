import { type Kysely, sql } from 'kysely';
import { buildIndex } from '../concurrent-index.ts';

/**
 * Lets a contact have one open execution of a workflow for each value of its `reentryKey`, instead of one per
 * contact. The new index is built before the old one is dropped, so two executions with the same value can never be
 * open.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await buildIndex(db, {
    name: 'executions_open_once',
    isUnique: true,
    on: sql`executions (workflow_id, contact_id,
      (CASE WHEN sandbox THEN id ELSE coalesce(reentry_value, '00000000-0000-0000-0000-000000000000'::uuid) END))
      WHERE completed_at IS NULL`,
  });
  await sql`DROP INDEX CONCURRENTLY IF EXISTS executions_active`.execute(db);
}
