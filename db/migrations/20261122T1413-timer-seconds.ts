import { type Kysely, sql } from 'kysely';

/**
 * How many of a project's timers end in a second (of the epoch), for those seconds in which any does. `next_second` is where one that finds
 * its second full looks on: all before it are full. `timer_rate` has what a second takes of a project, where it is not the default.
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
