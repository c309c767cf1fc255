import { type Kysely, sql } from 'kysely';

/**
 * SHA-256 of an inbound email's bytes, which distinguishes a repetition from another email with the same Message-ID.
 * Without a default, so that no row is written; earlier emails have no value.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE emails ADD COLUMN received_digest bytea`.execute(db);
}
