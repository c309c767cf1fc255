import { type Kysely, sql } from 'kysely';

/**
 * The workflow starts, signals and cancellations per second that each worker has recently observed in Temporal. The sum
 * over all workers was the throughput of this installation, which determined how far timers were spread out. Later
 * releases do not use this table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE begin_rates (
      worker_id uuid PRIMARY KEY,
      per_second float8 NOT NULL,
      at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
}
