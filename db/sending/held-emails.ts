import { sql } from 'kysely';
import type { Trx } from '../connection.ts';

/** A page of a release: emails that may now be sent, and the start of the next page. */
export interface ReleasedPage {
  ids: string[];
  /** The last email that was checked. Null when there are no more, or when the project is on hold again. */
  after: string | null;
  /** Whether the project is on hold again, so that the remaining emails wait for the next release. */
  heldAgain: boolean;
}

/**
 * Sets the held emails among the next `rows` of a project back to PENDING, for a new delivery. The status makes sure
 * that a held email is sent once, even if two callers release it. Campaign emails are released by their campaign. A
 * hold that is set meanwhile waits for this transaction, and then stops the release of the next pages.
 */
export async function releaseHeldPage(
  trx: Trx,
  p: { projectId: string; after: string | null; rows: number },
): Promise<ReleasedPage> {
  const { rows: project } = await sql`
    SELECT FROM projects WHERE id = ${p.projectId} AND effective_held_at IS NULL FOR SHARE`.execute(trx);
  if (project.length === 0) return { ids: [], after: null, heldAgain: true };
  const from = p.after === null ? sql`true` : sql`id > ${p.after}::uuid`;
  // Waits for rows that other transactions have locked, because the release does not return to rows it has passed.
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
