import { type Kysely, sql } from 'kysely';

/**
 * Contents of emails whose contact was erased. Pruning deletes such a content if no email uses it any more. The index
 * finds the emails of a content. Only emails with these two sources have contents that are used once; emails of
 * campaigns, by far the most, are not in the index. The columns of the index do not change while an email is sent, so
 * updates stay heap-only.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE erased_contents (
      content_id uuid PRIMARY KEY,
      project_id uuid NOT NULL,
      retired_at timestamptz
    )`.execute(db);
  await sql`
    CREATE INDEX emails_one_off_content ON emails (content_id) WHERE source_type IN ('TRANSACTIONAL', 'INBOUND')
  `.execute(db);
  // Contents of emails that were erased before this migration.
  await sql`
    INSERT INTO erased_contents (content_id, project_id)
    SELECT k.id, k.project_id FROM contents k
    WHERE k.template_id IS NULL AND k.type = 'TRANSACTIONAL' AND NOT EXISTS (
      SELECT FROM emails e WHERE e.content_id = k.id AND e.source_type IN ('TRANSACTIONAL', 'INBOUND'))`.execute(db);
}
