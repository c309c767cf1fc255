import { type Kysely, sql } from 'kysely';

/** Adds the preview text, which mailboxes show after the subject, to all tables with a subject and a body. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['templates', 'campaigns', 'contents'])
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN preheader text`.execute(db);
}
