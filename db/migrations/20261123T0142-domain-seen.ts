import { type Kysely, sql } from 'kysely';

/**
 * The DNS records found at the last check at the names of a domain's records, beside whether they matched (`found`).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE domains ADD COLUMN seen jsonb NOT NULL DEFAULT '{}'`.execute(db);
}
