import { type Kysely, sql } from 'kysely';

/**
 * Attachments of emails whose contact was erased. Pruning deletes such an attachment if no email has it any more. The
 * index finds the few emails with attachments. `options` does not change while an email is sent, so updates stay
 * heap-only.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE erased_attachments (
      attachment_id uuid PRIMARY KEY,
      project_id uuid NOT NULL
    )`.execute(db);
  await sql`
    CREATE INDEX emails_attachments ON emails USING gin ((options->'attachmentIds') jsonb_path_ops) WHERE options ? 'attachmentIds'
  `.execute(db);
  // Attachments of emails that were erased before this migration.
  await sql`
    INSERT INTO erased_attachments (attachment_id, project_id)
    SELECT a.id, a.project_id FROM attachments a WHERE NOT EXISTS (
      SELECT FROM emails e
      WHERE e.options ? 'attachmentIds' AND e.options->'attachmentIds' @> jsonb_build_array(a.id::text))`.execute(db);
}
