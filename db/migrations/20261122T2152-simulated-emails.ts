import { type Kysely, sql } from 'kysely';

/**
 * Emails to the simulator are marked permanently, also after their addresses are erased, because they count in no
 * analytics. They are few, so queries exclude them by a small index.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE emails ADD COLUMN simulated boolean NOT NULL DEFAULT false`.execute(db);
  await sql`CREATE INDEX emails_simulated ON emails (project_id, id) WHERE simulated`.execute(db);
}
