import { sql } from 'kysely';
import type { Db } from '../connection.ts';
import { listContactFields } from '../contacts/fields.ts';

export interface WorkflowField {
  field: string;
  type: string;
  category: 'contact' | 'event' | 'email';
}

/** The number of newest events whose data is read for its keys. The newest events show which keys callers send now. */
const EVENTS_SAMPLED = 1_000;
const EMAIL_HISTORY = ['sent', 'delivered', 'opened', 'clicked', 'bounced', 'complained'].map(
  (word) => `email.${word}`,
);

/**
 * Lists the fields that a CONDITION step can use: contact fields, keys of event data, event names and email activity.
 */
export async function listWorkflowFields(db: Db, projectId: string) {
  const [contactFields, eventKeys, eventNames] = [
    await listContactFields(db, projectId),
    await listEventKeys(db, projectId),
    await listEventNames(db, projectId),
  ];
  const fields: WorkflowField[] = [
    ...contactFields.map(({ field, type }) => ({ field, type, category: 'contact' as const })),
    ...eventKeys.map(({ key, type }) => ({ field: `event.${key}`, type, category: 'event' as const })),
    ...EMAIL_HISTORY.map((field) => ({ field, type: 'date', category: 'email' as const })),
  ];
  return {
    fields,
    contactFields: contactFields.map(({ field }) => field),
    eventFields: eventKeys.map(({ key }) => `event.${key}`),
    eventNames,
  };
}

async function listEventKeys(db: Db, projectId: string): Promise<{ key: string; type: string }[]> {
  const { rows } = await sql<{ key: string; type: string }>`
    SELECT k.key, min(jsonb_typeof(k.value)) AS type
    FROM (SELECT data FROM events WHERE project_id = ${projectId} AND jsonb_typeof(data) = 'object'
      ORDER BY id DESC LIMIT ${EVENTS_SAMPLED}) e, jsonb_each(e.data) k
    GROUP BY k.key ORDER BY k.key LIMIT 500
  `.execute(db);
  return rows;
}

/**
 * Lists up to 1,000 distinct event names by skipping through the index `events_name`. A name costs one lookup, however
 * many events it has.
 */
export async function listEventNames(db: Db, projectId: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    WITH RECURSIVE names AS (
      (SELECT name FROM events WHERE project_id = ${projectId} ORDER BY name LIMIT 1)
      UNION ALL
      SELECT (SELECT e.name FROM events e WHERE e.project_id = ${projectId} AND e.name > names.name ORDER BY e.name LIMIT 1)
      FROM names WHERE names.name IS NOT NULL)
    SELECT name FROM names WHERE name IS NOT NULL LIMIT 1000
  `.execute(db);
  return rows.map((row) => row.name);
}
