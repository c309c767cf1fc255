import { type Kysely, sql } from 'kysely';

/**
 * Room on a page of the ledger for a claim of all its rows at once: a row grows by its address, and the versions before the claim can only
 * go once it is committed. At 50 every tenth update moved to another page, and wrote to every index. For pages that are written from now on.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE emails SET (fillfactor = 40)`.execute(db);
}
