import { type Kysely, sql } from 'kysely';

/**
 * Indexes the entries and exits of a segment by its id, which their events carry. The names of the events contain the
 * slug, which may change and later belong to another segment. db/segments/history.ts queries by the same expression.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE INDEX events_segment ON events (project_id, (data->>'segmentId'), id)
    WHERE name LIKE 'segment.%.entry' OR name LIKE 'segment.%.exit'`.execute(db);
}
