import { sql } from 'kysely';
import type { Trx } from '../connection.ts';

/** The result of releasing a page: emails that may now be sent, and the position where the next page starts. */
export interface ReleasedPage {
  ids: string[];
  /** The last email that was read. Null when there are no more emails, or when the project is on hold again. */
  after: string | null;
  /** True if the project is on hold again, so the remaining emails wait for the next release. */
  heldAgain: boolean;
}

/**
 * Reads the next `rows` emails of a project, and sets the held ones back to PENDING for a new delivery. Even if two
 * callers release the same email, it is sent once, because only a HELD email changes. Skips emails of campaigns, which
 * the campaign's workflow releases. Locks the project, so a new hold waits for this transaction; the next page then
 * sees the hold and stops.
 */
export async function releaseHeldEmails(
  trx: Trx,
  p: { projectId: string; after: string | null; rows: number },
): Promise<ReleasedPage> {
  const { rows: project } = await sql`
    SELECT FROM projects WHERE id = ${p.projectId} AND effective_held_at IS NULL FOR SHARE`.execute(trx);
  if (project.length === 0) return { ids: [], after: null, heldAgain: true };
  const from = p.after === null ? sql`true` : sql`id > ${p.after}::uuid`;
  // Waits for rows that other transactions have locked instead of skipping them, because later pages do not read them
  // again.
  const { rows } = await sql<{ id: string; released: boolean }>`
    WITH looked AS MATERIALIZED (
      SELECT id, status = 'HELD' AND campaign_id IS NULL AS held FROM emails
      WHERE project_id = ${p.projectId} AND ${from} ORDER BY id LIMIT ${p.rows}
    ), locked AS MATERIALIZED (
      SELECT id FROM emails WHERE project_id = ${p.projectId} AND id IN (SELECT id FROM looked WHERE held) AND status = 'HELD' ORDER BY id FOR NO KEY UPDATE
    ), released AS (
      UPDATE emails SET status = 'PENDING', delivery_id = NULL
      WHERE project_id = ${p.projectId} AND id IN (SELECT id FROM locked) RETURNING id
    )
    SELECT id, true AS released FROM released
    UNION ALL (SELECT id, false FROM looked ORDER BY id OFFSET ${p.rows - 1})
    ORDER BY id
  `.execute(trx);
  return {
    ids: rows.filter((row) => row.released).map((row) => row.id),
    after: rows.find((row) => !row.released)?.id ?? null,
    heldAgain: false,
  };
}
