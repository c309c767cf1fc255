import { type Kysely, sql } from 'kysely';

/**
 * Adds the hash of the request that used an idempotency key first. Null for keys from before this migration. The column
 * has no default, so no row is rewritten.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE idempotency_keys ADD COLUMN fingerprint text`.execute(db);
}
