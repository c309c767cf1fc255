import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** Of rows of `events` those that are of no mail to the simulator, which are few and have an index of their own. */
export function notOfSimulator(projectId: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(events.email_id IS NULL OR events.email_id NOT IN (
    SELECT id FROM emails WHERE project_id = ${projectId} AND simulated))`;
}
