import { type Kysely, sql } from 'kysely';

/**
 * Adds the encrypted password of an endpoint's URL; the URL itself has `***` in its place. Pruning encrypts passwords
 * that are stored in clear text.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE webhook_endpoints ADD COLUMN url_secret text`.execute(db);
}
