import { type Kysely, sql } from 'kysely';

/** What an endpoint answered last: 1 KB at most, without the credentials of its URL. It goes with the delivery. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE webhook_deliveries ADD COLUMN response_body text`.execute(db);
}
