import { type Kysely, sql } from 'kysely';

/** Who brought a change of subscription about, for the timeline of a contact; of events before it nobody knows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE events ADD COLUMN actor text`.execute(db);
}
