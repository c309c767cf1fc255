import { type Kysely, sql } from 'kysely';

/**
 * The sealed password of an endpoint's URL, which itself shows `***`. Housekeeping seals passwords that are
 * stored in clear.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE webhook_endpoints ADD COLUMN url_secret text`.execute(db);
}
