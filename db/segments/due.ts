import { sql } from 'kysely';
import type { Db } from '../connection.ts';

const IS_TRACKED = sql<boolean>`track_membership AND type = 'DYNAMIC'`;

/** Lists projects with a tracked segment that was not computed since an instant, in the order of the projects' ids. */
export async function listDueProjects(
  db: Db,
  p: { since: Date; after: string | null; upTo: string | null; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ projectId: string }>`
    SELECT DISTINCT project_id AS "projectId" FROM segments
    WHERE ${IS_TRACKED} AND (computed_at IS NULL OR computed_at < ${p.since})
      AND (${p.after}::uuid IS NULL OR project_id > ${p.after}::uuid)
      AND (${p.upTo}::uuid IS NULL OR project_id <= ${p.upTo}::uuid)
    ORDER BY project_id LIMIT ${p.limit}`.execute(db);
  return rows.map(({ projectId }) => projectId);
}

export async function countDueProjects(db: Db, since: Date): Promise<number> {
  const { rows } = await sql<{ projects: number }>`
    SELECT count(DISTINCT project_id) AS projects FROM segments
    WHERE ${IS_TRACKED} AND (computed_at IS NULL OR computed_at < ${since})`.execute(db);
  return rows[0]?.projects ?? 0;
}

/**
 * Lists a project's tracked segments that were not computed since an instant. The segment that was computed longest ago
 * comes first.
 */
export async function listDueSegments(db: Db, p: { projectId: string; since: Date }): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM segments
    WHERE project_id = ${p.projectId} AND ${IS_TRACKED} AND (computed_at IS NULL OR computed_at < ${p.since})
    ORDER BY computed_at NULLS FIRST, id`.execute(db);
  return rows.map(({ id }) => id);
}
