import { type Kysely, sql } from 'kysely';

/**
 * Visits that ended at a step, by outcome and in the order of time: the list behind each count of a step. A visit
 * enters the index when it ends, and that update is not heap-only anyway (execution_steps_open). The index therefore
 * costs its share of an insert, and nothing while a contact waits.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE INDEX execution_steps_ended ON execution_steps (step_id, status, completed_at, execution_id, visit)
    WHERE completed_at IS NOT NULL`.execute(db);
}
