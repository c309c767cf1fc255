import { type Kysely, sql } from 'kysely';

/**
 * When machines opened and clicked the mails of a campaign, by hour numbered from 1970, in its first 72: mails keep how often only. What
 * they did before this migration is in no hour.
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
