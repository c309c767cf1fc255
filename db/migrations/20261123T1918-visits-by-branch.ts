import { type Kysely, sql } from 'kysely';

/**
 * Visits that left a step by a branch, in the order of time: the list behind each share of a branch. Visits without a
 * branch, the majority, are not in the index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE INDEX execution_steps_branch ON execution_steps (step_id, (output->>'branch'), status, completed_at, execution_id, visit)
    WHERE completed_at IS NOT NULL AND output->>'branch' IS NOT NULL`.execute(db);
}
