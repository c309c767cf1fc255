import { type Kysely, sql } from 'kysely';

/** Indexes that find skipped recipients by the reason, and count a campaign's clicks by link. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A reason is set when an email fails or bounces, never when an email is sent normally. Updates for normal emails
  // therefore stay heap-only.
  await sql`
    CREATE INDEX emails_campaign_reason ON emails (campaign_id, reason, id) WHERE campaign_id IS NOT NULL AND reason IS NOT NULL
  `.execute(db);
  // A row for each link that an email's recipient or a bot has followed. Like the ledger, the table has no foreign
  // keys.
  await sql`
    CREATE TABLE link_clicks (
      campaign_id uuid NOT NULL,
      email_id uuid NOT NULL,
      link int NOT NULL,
      project_id uuid NOT NULL,
      content_id uuid NOT NULL,
      clicks int NOT NULL DEFAULT 0,
      machine_clicks int NOT NULL DEFAULT 0,
      PRIMARY KEY (campaign_id, email_id, link)
    ) WITH (fillfactor = 80)`.execute(db);
}
