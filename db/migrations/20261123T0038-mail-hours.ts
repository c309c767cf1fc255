import { type Kysely, sql } from 'kysely';

/**
 * The counts of each project's live emails by hour, stored after the hour has ended. The statistics of a month thus
 * read about 700 rows for any number of emails. The current hour is counted from the events, which are in the order of
 * time, so sending an email updates no counter. Pruning continues at `mail_hours_until`, at first at the oldest event.
 * The two small indexes contain no column that changes while an email or an execution is in progress: `mode` never
 * changes, and `error` is set when an execution ends.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE mail_hours (
      project_id uuid NOT NULL,
      hour int NOT NULL,
      sent int NOT NULL,
      delivered int NOT NULL,
      opened int NOT NULL,
      clicked int NOT NULL,
      bounced int NOT NULL,
      complained int NOT NULL,
      PRIMARY KEY (project_id, hour)
    )`.execute(db);
  await sql`
    CREATE TABLE mail_hours_until (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      hour int NOT NULL
    )`.execute(db);
  await sql`
    INSERT INTO mail_hours_until (hour) SELECT floor(extract(epoch FROM
      coalesce((SELECT uuid_extract_timestamp(id) FROM events ORDER BY id LIMIT 1), now())) / 3600)::int`.execute(db);
  await sql`CREATE INDEX emails_test ON emails (project_id, id) WHERE mode = 'test'`.execute(db);
  await sql`
    CREATE INDEX executions_failed ON executions (project_id, completed_at)
    WHERE completed_at IS NOT NULL AND error IS NOT NULL`.execute(db);
}
