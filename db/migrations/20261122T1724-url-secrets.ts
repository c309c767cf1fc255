import { type Kysely, sql } from 'kysely';

/**
 * Adds the encrypted password of an endpoint's URL. The URL itself has `***` instead of the password. Pruning encrypts
 * passwords that are stored in clear text.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE webhook_endpoints ADD COLUMN url_secret text`.execute(db);
}
