import { type Kysely, sql } from 'kysely';

/**
 * An address is no proof of who somebody is, so several accounts may have it, told apart by their passwords: a sign-up need not say that there
 * is one already. All accounts of an address have one salt, so the hash tells two passwords apart.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE users ADD CONSTRAINT users_email_password_hash_key UNIQUE (email, password_hash)`.execute(db);
  await sql`ALTER TABLE users DROP CONSTRAINT users_email_key`.execute(db);
}
