import { type Kysely, sql } from 'kysely';
import type { Database } from './schema.ts';

export interface TriggeredWorkflow {
  id: string;
  name: string;
  eventName: string;
  allowReentry: boolean;
  entryStepId: string | null;
}

/** The enabled workflows of a project that one of these events starts. By the partial index workflows_trigger. */
export async function listTriggeredWorkflows(
  db: Kysely<Database>,
  projectId: string,
  eventNames: string[],
): Promise<TriggeredWorkflow[]> {
  const { rows } = await sql<TriggeredWorkflow>`
    /* prepared */ SELECT id, name, event_name AS "eventName", allow_reentry AS "allowReentry", entry_step_id AS "entryStepId"
    FROM workflows
    WHERE project_id = ${projectId} AND event_name = ANY(${eventNames}::text[]) AND enabled AND trigger_type = 'EVENT'
    ORDER BY id
  `.execute(db);
  return rows;
}

/**
 * Whether anything could react to an event of this name: a workflow it starts, a step that waits for it, or an endpoint of the
 * webhook registry. A bulk sender asks once a batch; where nothing listens it may write plain event rows, set-based.
 */
export async function hasListeners(db: Kysely<Database>, projectId: string, eventName: string): Promise<boolean> {
  const { rows } = await sql<{ listens: boolean }>`
    SELECT EXISTS (
        SELECT FROM workflows WHERE project_id = ${projectId} AND event_name = ${eventName} AND enabled AND trigger_type = 'EVENT')
      OR EXISTS (
        SELECT FROM workflow_steps
        WHERE project_id = ${projectId} AND type = 'WAIT_FOR_EVENT' AND config->>'eventName' = ${eventName})
      OR EXISTS (
        SELECT FROM webhook_endpoints w, unnest(w.events) AS pattern
        WHERE w.project_id = ${projectId} AND w.status <> 'DISABLED' AND (pattern = ${eventName}
          OR (right(pattern, 1) = '*' AND starts_with(${eventName}, left(pattern, -1))))) AS listens
  `.execute(db);
  return rows[0]?.listens ?? false;
}
