import { type Kysely, sql } from 'kysely';

/**
 * The SHA-256 of an inbound email's bytes, by which a repetition is told from another email with the same Message-ID.
 * Without a default, so that no row is written; emails from before have none.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE emails ADD COLUMN received_digest bytea`.execute(db);
}
