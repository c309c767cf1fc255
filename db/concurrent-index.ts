import { type Kysely, type RawBuilder, sql } from 'kysely';

/**
 * Builds an index CONCURRENTLY, outside of a transaction, so that no writer waits. If an earlier build failed or was
 * killed, it has left an INVALID index. This function drops that index and builds it again. Safe to run twice.
 * @param p.on the table with the columns, and the predicate of a partial index
 */
export async function buildIndex(
  db: Kysely<unknown>,
  { name, isUnique = false, on }: { name: string; isUnique?: boolean; on: RawBuilder<unknown> },
): Promise<void> {
  const { rows } = await sql<{ valid: boolean }>`
    SELECT i.indisvalid AS valid FROM pg_index i WHERE i.indexrelid = to_regclass(${name})
  `.execute(db);
  if (rows[0]?.valid) return;
  if (rows[0]) await sql`DROP INDEX CONCURRENTLY ${sql.ref(name)}`.execute(db);
  const unique = isUnique ? sql`UNIQUE` : sql``;
  await sql`CREATE ${unique} INDEX CONCURRENTLY ${sql.ref(name)} ON ${on}`.execute(db);
}
