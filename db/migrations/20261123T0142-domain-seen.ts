import { type Kysely, sql } from 'kysely';

/** What the DNS had at the names of a domain's records when it was last asked, beside whether it was what is expected (`found`). */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE domains ADD COLUMN seen jsonb NOT NULL DEFAULT '{}'`.execute(db);
}
