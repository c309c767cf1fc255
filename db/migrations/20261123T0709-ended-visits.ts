import { type Kysely, sql } from 'kysely';

/**
 * An index of visits that ended at a step, by status and in the order of time. The index serves the list of visits
 * behind each number of a step's statistics. A visit enters the index when it ends. The update that ends a visit is not
 * heap-only because of another index (execution_steps_open), so this index only adds to the cost of an insert.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE INDEX execution_steps_ended ON execution_steps (step_id, status, completed_at, execution_id, visit)
    WHERE completed_at IS NOT NULL`.execute(db);
}
