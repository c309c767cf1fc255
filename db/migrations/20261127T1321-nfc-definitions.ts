import { type Kysely, sql } from 'kysely';
import { normalizeStrings } from '../../rules/nfc.ts';

/** Definitions that name events, fields and values. The tables are small, and few rows change. */
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
 * Converts stored definitions to Unicode form C, in which requests arrive from now on. Only rows in another form are
 * written, so only those few rows are locked.
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

/** Parses the JSON, because as text the `n` of an escaped line break would combine with an accent behind it. */
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
