import { type Kysely, sql } from 'kysely';

/**
 * The ids that SES assigned to emails. By default, notifications of SES identify an email only by this id. The ids are
 * in a separate table, because updates of the ledger are heap-only as long as no index contains a column that is set
 * when an email is sent. The table has only ids, which are kept for some weeks.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE ses_messages (
      message_id text PRIMARY KEY,
      project_id uuid NOT NULL,
      email_id uuid NOT NULL,
      created_at timestamptz NOT NULL DEFAULT now()
    )`.execute(db);
  await sql`CREATE INDEX ses_messages_created ON ses_messages (created_at)`.execute(db);
}
