import { type Kysely, sql } from 'kysely';

/**
 * The history of contacts that were added to or removed from a STATIC segment, with the actor. A tracked segment
 * records events for such changes, and these events start workflows; changes of a STATIC segment start no workflow.
 * There is no foreign key to the contact, because rows stay after its deletion.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE segment_member_changes (
      id uuid PRIMARY KEY DEFAULT uuidv7(),
      project_id uuid NOT NULL,
      segment_id uuid NOT NULL REFERENCES segments ON DELETE CASCADE,
      contact_id uuid NOT NULL,
      change text NOT NULL CHECK (change IN ('entry', 'exit')),
      actor text NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX segment_member_changes_segment ON segment_member_changes (segment_id, id)`.execute(db);
}
