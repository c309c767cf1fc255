import { type Kysely, sql } from 'kysely';

/**
 * Automated opens and clicks of a campaign, by hour numbered from 1970, for its first 72 hours. Emails store only how
 * many they had. Earlier opens and clicks are in no hour.
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
