import { type RawBuilder, sql } from 'kysely';
import type { SandboxState } from '../../rules/executions/run.ts';

interface InRun {
  projectId: string;
  contactId: string;
  run: SandboxState | null;
}

/**
 * Returns the `WITH …` clause that statements for a step of this execution need. The clause is empty for a real
 * execution, and for a sandbox that has no changed contact and no events to add.
 * @param now set if the statement reads events: the sandbox's events up to this instant are added to the recorded
 * events
 */
export function buildRunClause(execution: InRun, now?: Date): RawBuilder<unknown> {
  const tables = buildRunTables(execution, now);
  return tables.length === 0 ? sql`` : sql`WITH ${sql.join(tables)}`;
}

/**
 * Builds CTEs with the names of the tables `contacts` and `events`. In the statement, the CTE `contacts` replaces the
 * contact's row with the contact as the sandbox has changed it. The CTE `events` adds the sandbox's events to the
 * recorded events. The same statement therefore works for real executions and for sandboxes.
 */
export function buildRunTables({ projectId, contactId, run }: InRun, now?: Date): RawBuilder<unknown>[] {
  const tables: RawBuilder<unknown>[] = [];
  if (run?.contact) {
    const changed = sql`${JSON.stringify(run.contact)}::jsonb`;
    const row =
      'id' in run.contact
        ? sql`SELECT r.* FROM jsonb_populate_record(NULL::contacts, ${changed}) r`
        : sql`SELECT r.* FROM contacts c, jsonb_populate_record(c, ${changed}) r WHERE c.project_id = ${projectId} AND c.id = ${contactId}`;
    tables.push(sql`contacts AS (${row})`);
  }
  const happened = now ? (run?.events.filter(({ at }) => at !== null && Date.parse(at) <= now.getTime()) ?? []) : [];
  if (happened.length > 0) {
    const rows = happened.map(({ id, name, data, at }) => ({
      id,
      name,
      data,
      created_at: at,
      project_id: projectId,
      contact_id: contactId,
      untrusted: false,
      swayed: false,
    }));
    tables.push(sql`events AS (
      SELECT e.* FROM events e WHERE e.project_id = ${projectId} AND e.contact_id = ${contactId}
      UNION ALL SELECT r.* FROM jsonb_array_elements(${JSON.stringify(rows)}::jsonb) x, jsonb_populate_record(NULL::events, x) r)`);
  }
  return tables;
}
