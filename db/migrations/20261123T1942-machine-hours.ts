import { type Kysely, sql } from 'kysely';

/**
 * Opens and clicks of a campaign by bots, by hour (hours since 1970), for the campaign's first 72 hours. Emails only
 * store the total number. Opens and clicks from before this migration are not included.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE campaign_machine_hours (
      campaign_id uuid NOT NULL,
      hour int NOT NULL,
      project_id uuid NOT NULL,
      opens int NOT NULL DEFAULT 0,
      clicks int NOT NULL DEFAULT 0,
      PRIMARY KEY (campaign_id, hour)
    ) WITH (fillfactor = 50)`.execute(db);
}
