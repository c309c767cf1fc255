import { type Kysely, sql } from 'kysely';

/**
 * Adds the hash of the request that took an idempotency key. The column is null for keys taken before, and has no
 * default, so no row is rewritten.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE idempotency_keys ADD COLUMN fingerprint text`.execute(db);
}
