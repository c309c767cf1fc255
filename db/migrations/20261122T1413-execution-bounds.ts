import { type Kysely, sql } from 'kysely';

/**
 * What bounds executions. `laps` is there for those whose workflow can run in a circle: when each step was come to last, in time waited
 * (rules/executions/laps.ts). `depth` counts the executions whose steps led to one, each by an event. `changed_by` is the execution whose step changed a
 * contact's data last, so that a segment's events of that contact belong to the same chain.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE executions ADD COLUMN laps jsonb, ADD COLUMN depth smallint NOT NULL DEFAULT 0`.execute(db);
  await sql`ALTER TABLE contacts ADD COLUMN changed_by uuid`.execute(db);
}
