import { type Kysely, sql } from 'kysely';

/**
 * Adds when marketing email may be sent: a project's time zone and sending window, a campaign's sending window and
 * local time, and a time zone per chunk.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE projects
      ADD COLUMN timezone text NOT NULL DEFAULT 'UTC',
      ADD COLUMN sending_window jsonb`.execute(db);
  // If own_window is true, the campaign's window replaces the project's window, even if it is empty. going_since: when
  // the campaign started to be sent, or was last resumed.
  await sql`
    ALTER TABLE campaigns
      ADD COLUMN own_window boolean NOT NULL DEFAULT false,
      ADD COLUMN sending_window jsonb,
      ADD COLUMN send_at_local text,
      ADD COLUMN late_policy text NOT NULL DEFAULT 'SEND' CHECK (late_policy IN ('SEND', 'SKIP')),
      ADD COLUMN going_since timestamptz`.execute(db);
  // Time zone of a chunk's recipients (null means the project's), and the time until which they wait.
  await sql`ALTER TABLE campaign_chunks ADD COLUMN zone text, ADD COLUMN not_before timestamptz`.execute(db);
}
