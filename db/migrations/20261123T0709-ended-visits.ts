import { type Kysely, sql } from 'kysely';

/**
 * Who left a step in which way, in the order of time: the list behind each count of a step. A visit comes into it when it ends, where the
 * update is no heap-only one anyway (execution_steps_open), so this costs an insert's share and nothing while somebody waits.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE INDEX execution_steps_ended ON execution_steps (step_id, status, completed_at, execution_id, visit)
    WHERE completed_at IS NOT NULL`.execute(db);
}
