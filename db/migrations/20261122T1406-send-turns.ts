import { type Kysely, sql } from 'kysely';

/**
 * Buckets have no debt any more, and store until when higher priorities wait. Existing debt is dropped, so a project
 * with debt exceeds its rate once. If debt were kept, emails would wait for sends that never happened.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE send_buckets
      ADD COLUMN singles_wait_until timestamptz,
      ADD COLUMN workflows_wait_until timestamptz`.execute(db);
  await sql`UPDATE send_buckets SET tokens = 0 WHERE tokens < 0`.execute(db);
}
