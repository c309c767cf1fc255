import { type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';
import { inTransaction } from '../transaction.ts';

/** Contents per statement, and statements per round. The rest waits for the next hour. */
const LIMITS = { rows: 1_000, rounds: 500 };

/**
 * Removes contents that only erased emails used. An email that is being accepted may be about to use one: it finds a
 * content by its hash, without a lock, and refers to it in the same transaction. A content is therefore retired first:
 * it gets a new hash that no lookup finds. It is deleted once all transactions that may have seen the old hash have
 * ended, if no email refers to it then. A content that got a new reference meanwhile stays. This does not wait for long
 * transactions: their contents are deleted an hour later. May run at any time, also concurrently.
 * @returns how many contents were deleted
 */
export async function removeErasedContents(db: Db, limits = LIMITS): Promise<number> {
  let removed = 0;
  for (let round = 0; round < limits.rounds; round += 1) {
    const retired = await retire(db, limits.rows);
    await markRetired(db);
    // Read before the statement that removes. That statement therefore sees the writes of all transactions that have
    // ended by now.
    const gone = await removeUnused(db, { rows: limits.rows, oldest: await oldestTransaction(db) });
    removed += gone.removed;
    if (retired < limits.rows && gone.looked < limits.rows) break;
  }
  return removed;
}

/**
 * True for the content of a single email that no email refers to. Campaigns (MARKETING) and templates never share
 * such content, because type and template are in the hash. The predicate repeats the one of the index
 * emails_one_off_content, so that it is used.
 */
export const isUnused = sql<boolean>`
  k.template_id IS NULL AND k.type = 'TRANSACTIONAL' AND NOT EXISTS (
    SELECT FROM emails e WHERE e.content_id = k.id AND e.source_type IN ('TRANSACTIONAL', 'INBOUND'))`;

/**
 * Gives unused contents a new hash. Hashes are 32 bytes long, so the 16-byte id collides with none. Notes of contents
 * in use are dropped; their next erasure adds them again.
 */
function retire(db: Db, rows: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    const ids = await lockNotes(trx, { rows, where: sql<boolean>`retired_at IS NULL` });
    await sql`
      WITH unused AS MATERIALIZED (SELECT k.id FROM contents k WHERE k.id = ANY(${ids}::uuid[]) AND ${isUnused}),
        retired AS (UPDATE contents SET hash = uuid_send(contents.id) FROM unused WHERE contents.id = unused.id)
      DELETE FROM erased_contents WHERE content_id = ANY(${ids}::uuid[]) AND content_id NOT IN (SELECT id FROM unused)
    `.execute(trx);
    return ids.length;
  });
}

/**
 * Runs after the new hashes are committed: a transaction that starts after this instant cannot have seen the old
 * hashes.
 */
async function markRetired(db: Db): Promise<void> {
  await sql`
    UPDATE erased_contents n SET retired_at = clock_timestamp()
    FROM contents k WHERE n.retired_at IS NULL AND k.id = n.content_id AND k.hash = uuid_send(k.id)
  `.execute(db);
}

/** Returns the start of this service's oldest transaction, as text because a Date has no microseconds. */
async function oldestTransaction(db: Db): Promise<string> {
  const { rows } = await sql<{ oldest: string }>`
    SELECT coalesce(min(CASE WHEN state = 'disabled' THEN '-infinity' ELSE xact_start END), now())::text AS oldest
    FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND backend_type = 'client backend'
      AND pid <> pg_backend_pid()
  `.execute(db);
  return rows[0]?.oldest ?? '-infinity';
}

function removeUnused(db: Db, p: { rows: number; oldest: string }): Promise<{ looked: number; removed: number }> {
  return inTransaction(db, async (trx) => {
    const ids = await lockNotes(trx, { rows: p.rows, where: sql<boolean>`retired_at < ${p.oldest}::timestamptz` });
    const { numAffectedRows } = await sql`
      DELETE FROM contents k WHERE k.id = ANY(${ids}::uuid[]) AND ${isUnused}
    `.execute(trx);
    await sql`DELETE FROM erased_contents WHERE content_id = ANY(${ids}::uuid[])`.execute(trx);
    return { looked: ids.length, removed: Number(numAffectedRows ?? 0n) };
  });
}

/**
 * Runs before the deciding statement. A concurrent erasure with the same note is then visible completely, or waits
 * and adds its note again.
 */
async function lockNotes(trx: Trx, p: { rows: number; where: RawBuilder<boolean> }): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT content_id AS id FROM erased_contents WHERE ${p.where} LIMIT ${p.rows} FOR UPDATE SKIP LOCKED
  `.execute(trx);
  return rows.map((row) => row.id);
}
