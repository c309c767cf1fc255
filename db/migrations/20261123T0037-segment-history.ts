import { type Kysely, sql } from 'kysely';

/**
 * Entries and exits of a segment are read by its id, which their events carry: the name of the events follows the slug, which may change and be
 * another segment's afterwards. The expression is the one that db/segments/history.ts asks by.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE INDEX events_segment ON events (project_id, (data->>'segmentId'), id)
    WHERE name LIKE 'segment.%.entry' OR name LIKE 'segment.%.exit'`.execute(db);
}
