import { type Kysely, sql } from 'kysely';

/**
 * Number of starts that each worker has recently seen Temporal process. The sum is the throughput of this
 * installation, by which timers are spread.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE begin_rates (
      worker_id uuid PRIMARY KEY,
      per_second float8 NOT NULL,
      at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
}
