import { type Kysely, sql } from 'kysely';

/**
 * An address does not prove identity, so several accounts may have the same one, distinguished by their passwords. A
 * sign-up then does not reveal existing accounts. All accounts of an address share one salt, so that the hash
 * distinguishes two passwords.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE users ADD CONSTRAINT users_email_password_hash_key UNIQUE (email, password_hash)`.execute(db);
  await sql`ALTER TABLE users DROP CONSTRAINT users_email_key`.execute(db);
}
