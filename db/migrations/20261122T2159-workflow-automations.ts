import { type Kysely, sql } from 'kysely';

/**
 * Adds branches with names that tenants choose (SPLIT), and events that end executions early: `exit_on` has `[{
 * eventName, filters? }]`. Each event has to find the workflows whose executions it ends, so workflows with exits have
 * a partial index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE workflow_transitions DROP CONSTRAINT workflow_transitions_branch_check`.execute(db);
  await sql`
    ALTER TABLE workflows ADD COLUMN exit_on jsonb, ADD COLUMN exit_when_unsubscribed boolean NOT NULL DEFAULT false
  `.execute(db);
  await sql`
    CREATE INDEX workflows_exits ON workflows (project_id) WHERE exit_on IS NOT NULL OR exit_when_unsubscribed
  `.execute(db);
}
