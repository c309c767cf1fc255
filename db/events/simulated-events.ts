import { type RawBuilder, type SqlBool, sql } from 'kysely';

/**
 * Selects rows of `events` that belong to no email to the simulator. Simulator events are few and have an index of
 * their own.
 */
export function notOfSimulator(projectId: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(events.email_id IS NULL OR events.email_id NOT IN (
    SELECT id FROM emails WHERE project_id = ${projectId} AND simulated))`;
}
