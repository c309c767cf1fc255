import { type Kysely, sql } from 'kysely';

/**
 * Which mail SES took under which id of its own: all that its notifications name a mail by, unless more is asked of it. Apart from the ledger,
 * whose updates stay heap-only as long as no index names a column that is set when a mail is sent. Ids only; kept for some weeks.
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
