import { type Kysely, sql } from 'kysely';

/**
 * Contents that have lost an email by the erasure of its contact. Housekeeping removes the ones that no email uses.
 * The index finds the emails of such a content. Only these two sources have single-use contents; campaigns, the bulk
 * of the ledger, are not in the index. Neither of its columns changes while an email is sent, so updates stay
 * heap-only.
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
