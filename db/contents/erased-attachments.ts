import { type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';
import { inTransaction } from '../transaction.ts';
import { type ErasedEmails, isErasedEmailSql } from './erased-contents.ts';

/**
 * Attachments per transaction, and transactions per call. The next periodic run, an hour later, deletes the rest. An
 * attachment can have 10 MB, which are deleted with its row.
 */
const LIMITS = { rows: 500, rounds: 500 };

/**
 * Records the attachments of erased emails in `erased_attachments`, for `removeErasedAttachments`. The attachments
 * cannot be deleted at once, because emails of one request share attachments. Call this function before the emails lose
 * their options. DO UPDATE locks an existing row: pruning must not delete the row before it sees that these emails are
 * erased.
 */
export async function recordErasedAttachments(trx: Trx, p: ErasedEmails): Promise<void> {
  await sql`
    INSERT INTO erased_attachments AS n (attachment_id, project_id)
    SELECT DISTINCT carried.id::uuid, e.project_id
    FROM emails e CROSS JOIN LATERAL jsonb_array_elements_text(e.options->'attachmentIds') AS carried (id)
    WHERE ${isErasedEmailSql(p)} AND e.options ? 'attachmentIds'
    ORDER BY 1
    ON CONFLICT (attachment_id) DO UPDATE SET project_id = n.project_id
  `.execute(trx);
}

/**
 * SQL condition that no email has the attachment `a`. The condition repeats the expression and predicate of the index
 * `emails_attachments`, so that Postgres uses the index.
 */
export const isAttachmentWithoutEmailSql: RawBuilder<boolean> = sql<boolean>`NOT EXISTS (
  SELECT FROM emails e WHERE e.options ? 'attachmentIds' AND e.options->'attachmentIds' @> jsonb_build_array(a.id::text))`;

/**
 * Deletes attachments that only erased emails had, and their rows of `erased_attachments`. For an attachment that
 * another email still has, deletes only that row. All emails with an attachment are inserted together with it, so no
 * later email can use it. May run at any time, also concurrently.
 */
export async function removeErasedAttachments(db: Db, limits = LIMITS): Promise<void> {
  for (let round = 0; round < limits.rounds; round += 1) {
    if ((await removeUnusedAttachments(db, limits.rows)) < limits.rows) return;
  }
}

/**
 * Locks rows of `erased_attachments` before reading emails. A concurrent erasure with the same attachment has then
 * either committed, and this function sees it. Or it waits for the lock, and inserts its row again.
 */
function removeUnusedAttachments(db: Db, rows: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    const { rows: notes } = await sql<{ id: string }>`
      SELECT attachment_id AS id FROM erased_attachments LIMIT ${rows} FOR UPDATE SKIP LOCKED
    `.execute(trx);
    const ids = notes.map((note) => note.id);
    await sql`
      DELETE FROM attachments a WHERE a.id = ANY(${ids}::uuid[]) AND ${isAttachmentWithoutEmailSql}
    `.execute(trx);
    await sql`DELETE FROM erased_attachments WHERE attachment_id = ANY(${ids}::uuid[])`.execute(trx);
    return ids.length;
  });
}
