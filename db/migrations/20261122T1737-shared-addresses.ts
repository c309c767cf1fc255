import { type Kysely, sql } from 'kysely';

/**
 * Allows several accounts with the same address, distinguished by their passwords, because an address does not prove
 * identity. Because of this, a sign-up does not reveal whether an address has an account. All accounts of an address
 * share one salt, so that two accounts with the same password would have the same hash, which the unique constraint
 * refuses.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE users ADD CONSTRAINT users_email_password_hash_key UNIQUE (email, password_hash)`.execute(db);
  await sql`ALTER TABLE users DROP CONSTRAINT users_email_key`.execute(db);
}
