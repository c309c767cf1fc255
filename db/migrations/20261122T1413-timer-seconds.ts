import { type Kysely, sql } from 'kysely';

/**
 * Number of a project's timers that end in a second (since 1970), for seconds with at least one timer. `next_second`
 * is where a timer that finds its second full continues to search: all seconds before it are full. `timer_rate` has
 * the number of a project's timers per second, if it is not the default.
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
