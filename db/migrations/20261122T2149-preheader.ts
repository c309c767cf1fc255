import { type Kysely, sql } from 'kysely';

/** Preview text that a mailbox shows beside the subject, for everything with a subject and a body. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['templates', 'campaigns', 'contents'])
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN preheader text`.execute(db);
}
