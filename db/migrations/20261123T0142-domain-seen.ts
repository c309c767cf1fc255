import { type Kysely, sql } from 'kysely';

/**
 * Adds the DNS records that the last check found at the names of a domain's records, beside whether they matched
 * (`found`).
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE domains ADD COLUMN seen jsonb NOT NULL DEFAULT '{}'`.execute(db);
}
