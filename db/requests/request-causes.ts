import { type RawBuilder, sql } from 'kysely';
import { AFFECTED_KINDS } from '../../rules/affected-rows.ts';
import { readUuidTime } from '../../rules/uuid.ts';
import type { Db } from '../connection.ts';
import { firstIdAtSql } from '../id-time.ts';

/**
 * The maximum time from the writes of a request to its response. The log entry of the request gets its id with the
 * response.
 */
const ANSWERED_MS = 60_000;
/** Maximum difference between the times of Postgres and of two API processes. */
const CLOCKS_APART_MS = 5_000;

/**
 * Returns the ids by which the request that caused a record can be found. The record is an email, SMS, execution, event
 * or contact. The result has the ids of the record, of the execution that caused the record, and of the event that
 * started the execution.
 */
export async function findCauseIds(db: Db, p: { projectId: string; id: string }): Promise<string[]> {
  const { projectId, id } = p;
  const { rows } = await sql<{ id: string; eventId: string | null }>`
    SELECT id, event_id AS "eventId" FROM executions WHERE project_id = ${projectId} AND id IN (
      SELECT ${id}::uuid
      UNION ALL SELECT execution_id FROM emails WHERE project_id = ${projectId} AND id = ${id}
      UNION ALL SELECT execution_id FROM sms_messages WHERE project_id = ${projectId} AND id = ${id})
  `.execute(db);
  const causes = rows.flatMap((execution) => [execution.id, execution.eventId]).filter((cause) => cause !== null);
  return [...new Set([id, ...causes])];
}

/**
 * Returns a query for the ids of log entries whose request created a row with one of these `ids`. A log entry gets its
 * id when the response is sent, shortly after the created rows got their ids. The entries are therefore found by a
 * range of ids, and no index on the created ids is needed. The row comparison has the form of the index, so that no
 * plan reads the requests of other projects.
 */
export function selectEntriesThatCreated(projectId: string, ids: readonly string[]): RawBuilder<unknown> {
  const each = ids.map((id) => {
    const at = readUuidTime(id)?.getTime();
    if (at === undefined) return sql`SELECT NULL::uuid`;
    const idAtMs = (ms: number) => firstIdAtSql(sql`${new Date(ms)}::timestamptz`);
    const has = AFFECTED_KINDS.map((kind) => sql`made->${sql.lit(kind)} ? ${id}`);
    return sql`SELECT id FROM requests
      WHERE (project_id, id) >= (${projectId}, ${idAtMs(at - CLOCKS_APART_MS)}) AND (project_id, id) < (${projectId}, ${idAtMs(at + ANSWERED_MS)})
        AND made IS NOT NULL AND (${sql.join(has, sql` OR `)})`;
  });
  return sql.join(each, sql` UNION ALL `);
}
