import { type Kysely, sql } from 'kysely';

/**
 * Who left a step by which branch, in the order of time: the list behind each share of a branch. Visits without a branch, which are most,
 * are not in it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE INDEX execution_steps_branch ON execution_steps (step_id, (output->>'branch'), status, completed_at, execution_id, visit)
    WHERE completed_at IS NOT NULL AND output->>'branch' IS NOT NULL`.execute(db);
}
