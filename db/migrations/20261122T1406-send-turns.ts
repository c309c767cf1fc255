import { type Kysely, sql } from 'kysely';

/**
 * Buckets have no debt any more, and know until when those wait who go first. What is owed is forgiven: who had paid for it sends once more
 * than the rate, and nobody waits for what was never sent.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    ALTER TABLE send_buckets
      ADD COLUMN singles_wait_until timestamptz,
      ADD COLUMN workflows_wait_until timestamptz`.execute(db);
  await sql`UPDATE send_buckets SET tokens = 0 WHERE tokens < 0`.execute(db);
}
