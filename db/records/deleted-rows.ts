import { sql } from 'kysely';
import type { Db, Trx } from '../connection.ts';
import { isOwnedBySql } from '../owned-by.ts';

/** The final status of a deleted record. */
export interface DeletedRow {
  id: string;
  status: string;
  reason: string | null;
}

/**
 * Records the final status of a row, in the transaction that deletes the row. The row's Temporal workflow may need the
 * status later.
 */
export async function recordDeletedRow(
  trx: Trx,
  { projectId, id, status }: { projectId: string; id: string; status: string },
): Promise<void> {
  await sql`
    INSERT INTO deleted_rows (id, project_id, status) VALUES (${id}, ${projectId}, ${status}) ON CONFLICT (id) DO NOTHING
  `.execute(trx);
}

/** Finds the final status of recently deleted records of any project, by their ids. */
export async function findDeletedRowsOfAnyProject(db: Db, ids: string[]): Promise<Map<string, DeletedRow>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('deleted_rows').select(['id', 'status', 'reason']).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Finds the final status of recently deleted records of a project, by their ids. */
export async function findDeletedRows(
  db: Db,
  { projectId, ids }: { projectId: string; ids: string[] },
): Promise<Map<string, DeletedRow>> {
  const { rows } = await sql<DeletedRow>`
    SELECT id, status, reason FROM deleted_rows WHERE id = ANY(${ids}::uuid[]) AND ${isOwnedBySql('project_id', projectId)}
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}
