import { type Kysely, sql } from 'kysely';
import { normalizeStrings } from '../../rules/nfc.ts';

/** Definitions that contain names of events and fields, and values. The tables are small, and few rows change. */
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
 * Converts stored definitions to Unicode form C, to which requests are converted from now on. Only rows in another form
 * are changed and locked.
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
    for (const column of columns) await normalizeJson(db, table, column);
  }
}

/**
 * Normalizes the parsed JSON, not its text: in the text, the `n` of an escaped line break would combine with a
 * following accent.
 */
async function normalizeJson(db: Kysely<unknown>, table: string, column: string): Promise<void> {
  const ref = sql.ref(column);
  const { rows } = await sql<{ id: string; value: unknown }>`
    SELECT id, ${ref} AS value FROM ${sql.table(table)} WHERE ${ref}::text IS NOT NFC NORMALIZED
  `.execute(db);
  for (const { id, value } of rows)
    await sql`
      UPDATE ${sql.table(table)} SET ${ref} = ${JSON.stringify(normalizeStrings(value))}::jsonb WHERE id = ${id}
    `.execute(db);
}
