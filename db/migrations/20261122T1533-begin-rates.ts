import { type Kysely, sql } from 'kysely';

/** What each worker has seen Temporal begin lately: together that is what this installation can follow, and what timers are spread by. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE begin_rates (
      worker_id uuid PRIMARY KEY,
      per_second float8 NOT NULL,
      at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
}
