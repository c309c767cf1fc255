import { type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';
import { inTransaction } from '../transaction.ts';

/** Contents per transaction, and transactions per call. The next periodic run, an hour later, deletes the rest. */
const LIMITS = { rows: 1_000, rounds: 500 };

/**
 * Deletes contents that only erased emails used. At the same moment, a new request may start to use such a content. The
 * request finds the content by its hash, without a lock, and inserts its email in the same transaction. Therefore a
 * content is retired first: it gets a new hash that no request finds. A retired content is deleted after all
 * transactions that may have seen the old hash have ended, unless an email uses it by then. If a long transaction is
 * running, this function does not wait for it: the next periodic run, an hour later, deletes the content. May run at
 * any time, also concurrently.
 * @returns the number of deleted contents
 */
export async function removeErasedContents(db: Db, limits = LIMITS): Promise<number> {
  let removed = 0;
  for (let round = 0; round < limits.rounds; round += 1) {
    const retired = await retireContents(db, limits.rows);
    await markRetired(db);
    // Reads the oldest transaction before the statement that deletes. The deleting statement therefore sees the writes
    // of all transactions that have ended until now.
    const result = await removeUnused(db, { rows: limits.rows, oldest: await readOldestTransaction(db) });
    removed += result.removed;
    if (retired < limits.rows && result.checked < limits.rows) break;
  }
  return removed;
}

/**
 * SQL condition for a transactional content without a template that no email uses. Only emails with the source
 * TRANSACTIONAL or INBOUND use such a content: campaigns (MARKETING) and templates never share it, because type and
 * template are in the hash. The condition repeats the predicate of the index `emails_one_off_content`, so that Postgres
 * uses the index.
 */
export const isUnusedContentSql = sql<boolean>`
  k.template_id IS NULL AND k.type = 'TRANSACTIONAL' AND NOT EXISTS (
    SELECT FROM emails e WHERE e.content_id = k.id AND e.source_type IN ('TRANSACTIONAL', 'INBOUND'))`;

/**
 * Gives unused contents a new hash. A hash has 32 bytes and the id has 16, so the id as the new hash is never equal to
 * a real hash. Rows of `erased_contents` for contents that are in use are deleted; the next erasure inserts them again.
 */
function retireContents(db: Db, rows: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    const ids = await lockNotes(trx, { rows, where: sql<boolean>`retired_at IS NULL` });
    await sql`
      WITH unused AS MATERIALIZED (SELECT k.id FROM contents k WHERE k.id = ANY(${ids}::uuid[]) AND ${isUnusedContentSql}),
        retired AS (UPDATE contents SET hash = uuid_send(contents.id) FROM unused WHERE contents.id = unused.id)
      DELETE FROM erased_contents WHERE content_id = ANY(${ids}::uuid[]) AND content_id NOT IN (SELECT id FROM unused)
    `.execute(trx);
    return ids.length;
  });
}

/**
 * Records the time when contents were retired. Runs after the transaction that changed the hashes has committed: a
 * transaction that starts after this time cannot have seen the old hashes.
 */
async function markRetired(db: Db): Promise<void> {
  await sql`
    UPDATE erased_contents n SET retired_at = clock_timestamp()
    FROM contents k WHERE n.retired_at IS NULL AND k.id = n.content_id AND k.hash = uuid_send(k.id)
  `.execute(db);
}

/**
 * Returns the start time of the oldest transaction of other connections of this service, or the current time without
 * such a transaction. Returns text, because a Date has no microseconds.
 */
async function readOldestTransaction(db: Db): Promise<string> {
  const { rows } = await sql<{ oldest: string }>`
    SELECT coalesce(min(CASE WHEN state = 'disabled' THEN '-infinity' ELSE xact_start END), now())::text AS oldest
    FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND backend_type = 'client backend'
      AND pid <> pg_backend_pid()
  `.execute(db);
  return rows[0]?.oldest ?? '-infinity';
}

function removeUnused(db: Db, p: { rows: number; oldest: string }): Promise<{ checked: number; removed: number }> {
  return inTransaction(db, async (trx) => {
    const ids = await lockNotes(trx, { rows: p.rows, where: sql<boolean>`retired_at < ${p.oldest}::timestamptz` });
    const { numAffectedRows } = await sql`
      DELETE FROM contents k WHERE k.id = ANY(${ids}::uuid[]) AND ${isUnusedContentSql}
    `.execute(trx);
    await sql`DELETE FROM erased_contents WHERE content_id = ANY(${ids}::uuid[])`.execute(trx);
    return { checked: ids.length, removed: Number(numAffectedRows ?? 0n) };
  });
}

/**
 * Locks rows of `erased_contents` before the statement that checks for emails. A concurrent erasure of the same content
 * has then either committed, and the check sees it. Or it waits for the lock, and inserts its row again.
 */
async function lockNotes(trx: Trx, p: { rows: number; where: RawBuilder<boolean> }): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT content_id AS id FROM erased_contents WHERE ${p.where} LIMIT ${p.rows} FOR UPDATE SKIP LOCKED
  `.execute(trx);
  return rows.map((row) => row.id);
}
