import { type Kysely, sql } from 'kysely';

/**
 * The number of a project's timers that end in a second (since 1970), for seconds with at least one timer.
 * `next_second` is the second at which the search for a free second continues, because all seconds before it have no
 * capacity left. `timer_rate` is the number of a project's timers per second, if it differs from the default.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE timer_seconds (
      project_id uuid NOT NULL,
      second bigint NOT NULL,
      booked int NOT NULL,
      next_second bigint,
      PRIMARY KEY (project_id, second)
    ) WITH (fillfactor = 70)`.execute(db);
  await sql`
    CREATE TABLE timer_rate (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      per_second int NOT NULL CHECK (per_second >= 0)
    )`.execute(db);
}
