import { type Kysely, sql } from 'kysely';

/**
 * Attachments that have lost a mail by the erasure of its contact, for housekeeping to remove those that no mail carries. The index finds the
 * mails that carry one, which few mails do; `options` does not change while a mail is sent, so updates stay heap-only.
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
  // What was erased before.
  await sql`
    INSERT INTO erased_attachments (attachment_id, project_id)
    SELECT a.id, a.project_id FROM attachments a WHERE NOT EXISTS (
      SELECT FROM emails e
      WHERE e.options ? 'attachmentIds' AND e.options->'attachmentIds' @> jsonb_build_array(a.id::text))`.execute(db);
}
