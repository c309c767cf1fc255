import { type RawBuilder, type SqlBool, sql } from 'kysely';

/**
 * Returns the SQL condition that an event does not belong to an email to a simulator address. Such emails are few and
 * have a separate index.
 */
export function isNotSimulatedEventSql(projectId: string): RawBuilder<SqlBool> {
  return sql<SqlBool>`(events.email_id IS NULL OR events.email_id NOT IN (
    SELECT id FROM emails WHERE project_id = ${projectId} AND simulated))`;
}
