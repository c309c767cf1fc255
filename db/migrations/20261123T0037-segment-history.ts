import { type Kysely, sql } from 'kysely';

/**
 * Indexes the events for entering and leaving a segment by the segment's id, which is in the event's data. The names of
 * these events contain the slug, which can change and then belong to another segment. db/segments/history.ts queries by
 * the same expression.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE INDEX events_segment ON events (project_id, (data->>'segmentId'), id)
    WHERE name LIKE 'segment.%.entry' OR name LIKE 'segment.%.exit'`.execute(db);
}
