import { type Kysely, sql } from 'kysely';

/** Definitions that name events, fields and values: small tables, of which hardly a row changes. */
const TEXTS = {
  workflows: ['event_name'],
  templates: ['subject', 'body', 'preheader'],
  campaigns: ['subject', 'body', 'preheader'],
  execution_waits: ['event_name'],
};
const JSONS = {
  workflows: ['exit_on'],
  workflow_steps: ['config'],
  segments: ['condition'],
  campaigns: ['audience_filter', 'variants'],
};

/**
 * Puts stored definitions into Unicode form C, in which requests arrive from now on. Only rows in another form are
 * written, so the locks are those of a few rows.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, columns] of Object.entries(TEXTS)) {
    for (const column of columns) {
      const ref = sql.ref(column);
      await sql`UPDATE ${sql.table(table)} SET ${ref} = normalize(${ref}, NFC) WHERE ${ref} IS NOT NFC NORMALIZED`.execute(
        db,
      );
    }
  }
  for (const [table, columns] of Object.entries(JSONS)) {
    for (const column of columns) {
      const ref = sql.ref(column);
      await sql`
        UPDATE ${sql.table(table)} SET ${ref} = normalize(${ref}::text, NFC)::jsonb WHERE ${ref}::text IS NOT NFC NORMALIZED
      `.execute(db);
    }
  }
}
