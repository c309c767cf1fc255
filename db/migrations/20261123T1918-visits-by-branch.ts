import { type Kysely, sql } from 'kysely';

/**
 * An index of visits that left a step by a branch, in the order of time. The index serves the list of visits behind
 * each branch's percentage. Most visits have no branch and are not in the index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE INDEX execution_steps_branch ON execution_steps (step_id, (output->>'branch'), status, completed_at, execution_id, visit)
    WHERE completed_at IS NOT NULL AND output->>'branch' IS NOT NULL`.execute(db);
}
