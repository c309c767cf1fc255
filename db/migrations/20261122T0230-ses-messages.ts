import { type Kysely, sql } from 'kysely';

/**
 * The id that SES gave to each email. By default, notifications of SES identify an email only by this id. The table
 * is separate from the ledger, whose updates stay heap-only as long as no index names a column that is set when an
 * email is sent. It has ids only, which are kept for some weeks.
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
