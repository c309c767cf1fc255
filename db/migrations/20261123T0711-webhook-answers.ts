import { type Kysely, sql } from 'kysely';

/**
 * Last response of an endpoint, at most 1 KB, without the credentials of its URL. The response is deleted with the
 * delivery.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE webhook_deliveries ADD COLUMN response_body text`.execute(db);
}
