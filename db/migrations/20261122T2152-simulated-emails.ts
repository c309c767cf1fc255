import { type Kysely, sql } from 'kysely';

/**
 * Marks emails to simulator addresses, so that statistics can exclude them even after the address was erased. Such
 * emails are few, so a small index finds them.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE emails ADD COLUMN simulated boolean NOT NULL DEFAULT false`.execute(db);
  await sql`CREATE INDEX emails_simulated ON emails (project_id, id) WHERE simulated`.execute(db);
}
