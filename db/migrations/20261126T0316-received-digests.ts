import { type Kysely, sql } from 'kysely';

/**
 * The SHA-256 of an inbound email's bytes. The hash distinguishes a repeated delivery from another email with the same
 * Message-ID. The column has no default, so no row is rewritten; it is null for earlier emails.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE emails ADD COLUMN received_digest bytea`.execute(db);
}
