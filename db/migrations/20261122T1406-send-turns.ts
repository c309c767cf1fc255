import { type Kysely, sql } from 'kysely';

/**
 * Buckets of send tokens can no longer be in debt. A bucket stores the time until which emails of higher priority wait.
 * Existing debt is deleted, so a project with debt exceeds its rate once. Otherwise emails would wait because of emails
 * that were never sent.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE send_buckets
      ADD COLUMN singles_wait_until timestamptz,
      ADD COLUMN workflows_wait_until timestamptz`.execute(db);
  await sql`UPDATE send_buckets SET tokens = 0 WHERE tokens < 0`.execute(db);
}
