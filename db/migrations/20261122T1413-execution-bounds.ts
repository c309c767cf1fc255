import { type Kysely, sql } from 'kysely';

/**
 * Limits of executions. `laps` is the state of the loop guard for workflows with cycles: for each step, the waiting
 * time up to its last visit (rules/executions/loop-guard.ts). `depth` is the number of executions in the chain that led
 * to this one: each execution caused the event that started the next. `changed_by` is the execution whose step last
 * changed the contact. Events about segments that result from the change belong to the same chain.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE executions ADD COLUMN laps jsonb, ADD COLUMN depth smallint NOT NULL DEFAULT 0`.execute(db);
  await sql`ALTER TABLE contacts ADD COLUMN changed_by uuid`.execute(db);
}
