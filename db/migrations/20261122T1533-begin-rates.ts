import { type Kysely, sql } from 'kysely';

/**
 * The number of starts that each worker has recently observed in Temporal. The sum is the throughput of this
 * installation, which determines how far timers are spread out.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE begin_rates (
      worker_id uuid PRIMARY KEY,
      per_second float8 NOT NULL,
      at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
}
