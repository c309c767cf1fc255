import { type Kysely, sql } from 'kysely';

/**
 * Limits of executions. `laps` is used by workflows with cycles: for each step, the waited time at its last visit
 * (rules/executions/loop-guard.ts). `depth` counts the executions whose steps led to this one, each by an event.
 * `changed_by` is the execution whose step last changed a contact's data, so that a segment's events of that contact
 * belong to the same chain.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE executions ADD COLUMN laps jsonb, ADD COLUMN depth smallint NOT NULL DEFAULT 0`.execute(db);
  await sql`ALTER TABLE contacts ADD COLUMN changed_by uuid`.execute(db);
}
