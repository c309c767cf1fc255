import { type Kysely, sql } from 'kysely';

/**
 * Leaves enough space on a page of the ledger for a claim of all its rows. A claim adds the address to each row, and
 * the earlier versions of the rows can only be removed after its commit. At fillfactor 50, every tenth update moved to
 * another page and had to write to every index. The setting applies to pages that are written from now on.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE emails SET (fillfactor = 40)`.execute(db);
}
