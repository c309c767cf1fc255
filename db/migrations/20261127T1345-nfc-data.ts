import { type Kysely, sql } from 'kysely';
import { normalizeStrings } from '../../rules/nfc.ts';

/** Rows per statement, so that each statement holds its locks for milliseconds. */
const BATCH_ROWS = 5_000;

/**
 * Converts the data of contacts and the names of events to Unicode form C, which requests and filters use. Reads all
 * rows and changes only rows in another form, in batches with a commit each. After a killed run, the next run starts
 * again and changes the rest. If two fields of a contact get the same name, the value of the field that already had
 * this name stays.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for await (const { after, last } of idRanges(db, 'contacts')) await normalizeContacts(db, after, last);
  for await (const { after, last } of idRanges(db, 'events'))
    await sql`
      UPDATE events SET name = normalize(name, NFC)
      WHERE id > ${after} AND id <= ${last} AND name IS NOT NFC NORMALIZED
    `.execute(db);
}

async function* idRanges(db: Kysely<unknown>, table: string): AsyncGenerator<{ after: string; last: string }> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await sql<{ last: string | null }>`
      SELECT max(id::text) AS last
      FROM (SELECT id FROM ${sql.table(table)} WHERE id > ${after} ORDER BY id LIMIT ${sql.lit(BATCH_ROWS)}) page
    `.execute(db);
    const last = rows[0]?.last;
    if (!last) return;
    yield { after, last };
    after = last;
  }
}

async function normalizeContacts(db: Kysely<unknown>, after: string, last: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: string; data: Record<string, unknown>; untrusted_keys: string[] }>`
      SELECT id, data, untrusted_keys FROM contacts
      WHERE id > ${after} AND id <= ${last}
        AND (data::text IS NOT NFC NORMALIZED OR array_to_string(untrusted_keys, '') IS NOT NFC NORMALIZED)
      ORDER BY id FOR NO KEY UPDATE
    `.execute(trx);
    for (const { id, data, untrusted_keys } of rows) {
      const keys = [...new Set(untrusted_keys.map((key) => key.normalize('NFC')))];
      await sql`
        UPDATE contacts SET data = ${JSON.stringify(normalizeData(data))}::jsonb, untrusted_keys = ${keys}::text[]
        WHERE id = ${id}
      `.execute(trx);
    }
  });
}

/** Puts fields whose names are already in form C last, because the last one of two fields with the same name stays. */
function normalizeData(data: Record<string, unknown>): unknown {
  const isComposed = ([name]: [string, unknown]) => name === name.normalize('NFC');
  const fields = Object.entries(data);
  return normalizeStrings(
    Object.fromEntries([...fields.filter((field) => !isComposed(field)), ...fields.filter(isComposed)]),
  );
}
