import { type Kysely, sql } from 'kysely';

/**
 * Executions that test a workflow. Changes by such an execution are kept in `run` only. It does not count as an entry
 * of its contact and has no entry number, and any number of them may run for one contact beside the real one. The index
 * keeps its predicate, which finds open executions of a workflow.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE executions ADD COLUMN sandbox boolean NOT NULL DEFAULT false, ADD COLUMN run jsonb, ALTER COLUMN entry DROP NOT NULL
  `.execute(db);
  await sql`DROP INDEX executions_active`.execute(db);
  await sql`
    CREATE UNIQUE INDEX executions_active ON executions
      (workflow_id, contact_id, (CASE WHEN sandbox THEN id ELSE '00000000-0000-0000-0000-000000000000'::uuid END))
      WHERE completed_at IS NULL
  `.execute(db);
}
