import { type RawBuilder, sql } from 'kysely';
import { MADE_KINDS } from '../../rules/request-made.ts';
import { timeOfUuid } from '../../rules/uuid.ts';
import type { Db } from '../connection.ts';
import { firstIdAt } from '../id-time.ts';

/** From what a request makes until it is answered, and its entry gets its id. */
const ANSWERED_MS = 60_000;
/** How far the clocks of Postgres and of two API processes are apart at most. */
const CLOCKS_APART_MS = 5_000;

/**
 * By what a mail, SMS, execution, event or contact leads back to its request: itself, the execution that it came of and
 * the event that began that one.
 */
export async function findCauses(db: Db, p: { projectId: string; id: string }): Promise<string[]> {
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
 * Entries of the log that have made one of these, as a SELECT of their ids. An entry gets its id when the request is
 * answered, not long after what it made got its own: so the index of ids finds them, and what is made needs none. The
 * rows are compared as the index has them, so that no plan goes through the requests of other projects.
 */
export function entriesThatMade(projectId: string, ids: readonly string[]): RawBuilder<unknown> {
  const each = ids.map((id) => {
    const at = timeOfUuid(id)?.getTime();
    if (at === undefined) return sql`SELECT NULL::uuid`;
    const idAt = (ms: number) => firstIdAt(sql`${new Date(ms)}::timestamptz`);
    const has = MADE_KINDS.map((kind) => sql`made->${sql.lit(kind)} ? ${id}`);
    return sql`SELECT id FROM requests
      WHERE (project_id, id) >= (${projectId}, ${idAt(at - CLOCKS_APART_MS)}) AND (project_id, id) < (${projectId}, ${idAt(at + ANSWERED_MS)})
        AND made IS NOT NULL AND (${sql.join(has, sql` OR `)})`;
  });
  return sql.join(each, sql` UNION ALL `);
}
