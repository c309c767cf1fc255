import { type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';
import { inTransaction } from '../transaction.ts';

/** Contents a statement, and rounds of statements: what is left waits for the next hour. */
const LIMITS = { rows: 1_000, rounds: 500 };

/**
 * Removes contents that erased mails alone have used. A mail that is being accepted may be about to use one: it looks a
 * content up by its hash, without a lock, and refers to it in the same transaction. So a content is retired first: it
 * gets another hash, by which nobody looks for it. Once all transactions have ended that may have seen the old one, and
 * still no mail refers to it, it goes. One that was taken up meanwhile stays. Nothing waits: what a long transaction
 * keeps here goes an hour later. May run at any time, again, and twice at once.
 * @returns how many are gone
 */
export async function removeErasedContents(db: Db, limits = LIMITS): Promise<number> {
  let removed = 0;
  for (let round = 0; round < limits.rounds; round += 1) {
    const retired = await retire(db, limits.rows);
    await markRetired(db);
    // Asked for before the statement that removes, which therefore sees what the transactions that ended until now have
    // done.
    const gone = await removeUnused(db, { rows: limits.rows, oldest: await oldestTransaction(db) });
    removed += gone.removed;
    if (retired < limits.rows && gone.looked < limits.rows) break;
  }
  return removed;
}

/**
 * Words of a mail of its own that no mail refers to. Campaigns (MARKETING) and templates never share them: both are in
 * the hash. By the index emails_one_off_content, whose predicate is repeated here.
 */
export const isUnused = sql<boolean>`
  k.template_id IS NULL AND k.type = 'TRANSACTIONAL' AND NOT EXISTS (
    SELECT FROM emails e WHERE e.content_id = k.id AND e.source_type IN ('TRANSACTIONAL', 'INBOUND'))`;

/**
 * Gives contents that nobody uses a new hash: it is 32 bytes long, so the id, which is 16, is nobody's. Notes of
 * contents in use are let go: their next erasure notes them again.
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

/** After the new hashes are committed: who begins later than this instant cannot have seen the old ones. */
async function markRetired(db: Db): Promise<void> {
  await sql`
    UPDATE erased_contents n SET retired_at = clock_timestamp()
    FROM contents k WHERE n.retired_at IS NULL AND k.id = n.content_id AND k.hash = uuid_send(k.id)
  `.execute(db);
}

/** When the oldest transaction of this service began; as text, since a Date has no microseconds. */
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
 * A statement before the one that decides: an erasure that has noted the same content is then seen whole, or waits for
 * us and notes it anew.
 */
async function lockNotes(trx: Trx, p: { rows: number; where: RawBuilder<boolean> }): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT content_id AS id FROM erased_contents WHERE ${p.where} LIMIT ${p.rows} FOR UPDATE SKIP LOCKED
  `.execute(trx);
  return rows.map((row) => row.id);
}
