import { type Kysely, sql } from 'kysely';

/**
 * Contents that have lost a mail by the erasure of its contact, for housekeeping to remove those that no mail uses. The index finds the mails
 * of such a content: only these two sources send words of their own (campaigns, the bulk of the ledger, are not in it). Neither column of it
 * changes while a mail is sent, so updates stay heap-only.
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
  // What was erased before.
  await sql`
    INSERT INTO erased_contents (content_id, project_id)
    SELECT k.id, k.project_id FROM contents k
    WHERE k.template_id IS NULL AND k.type = 'TRANSACTIONAL' AND NOT EXISTS (
      SELECT FROM emails e WHERE e.content_id = k.id AND e.source_type IN ('TRANSACTIONAL', 'INBOUND'))`.execute(db);
}
