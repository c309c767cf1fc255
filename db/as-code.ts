import { sql } from 'kysely';
import type { Db, Trx } from './connection.ts';

/**
 * Returns the approximate size of a project's export (`GET /project/export`) in bytes, without reading the export. Sums
 * the sizes of template bodies, segment conditions, step configs, and the bodies, audience filters and variants of
 * DRAFT campaigns.
 */
export async function countExportBytes(db: Db, projectId: string): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    SELECT (SELECT coalesce(sum(octet_length(body)), 0) FROM templates WHERE project_id = ${projectId})::bigint
      + (SELECT coalesce(sum(octet_length(condition::text)), 0) FROM segments WHERE project_id = ${projectId})::bigint
      + (SELECT coalesce(sum(octet_length(config::text)), 0) FROM workflow_steps WHERE project_id = ${projectId})::bigint
      + (SELECT coalesce(sum(octet_length(body) + coalesce(octet_length(audience_filter::text), 0) + coalesce(octet_length(variants::text), 0)), 0)
         FROM campaigns WHERE project_id = ${projectId} AND status = 'DRAFT')::bigint AS bytes
  `.execute(db);
  return Number(rows[0]?.bytes ?? 0);
}

/**
 * Takes the lock for `POST /project/apply`, so that the calls for one project run one after another. Each call then
 * compares the requested configuration with the result of the previous call.
 */
export async function lockProjectApply(trx: Trx, projectId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`apply:${projectId}`}, 0))`.execute(trx);
}
