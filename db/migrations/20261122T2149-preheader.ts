import { type Kysely, sql } from 'kysely';

/** What a mailbox shows beside the subject, wherever there are a subject and a body. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['templates', 'campaigns', 'contents'])
    await sql`ALTER TABLE ${sql.table(table)} ADD COLUMN preheader text`.execute(db);
}
