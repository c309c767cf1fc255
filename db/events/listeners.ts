import { type RawBuilder, sql } from 'kysely';
import { type Exits, UNSUBSCRIBED_EVENT } from '../../rules/executions/exits.ts';
import type { Db } from '../connection.ts';
import { prepared } from '../prepared.ts';

export interface TriggeredWorkflow {
  id: string;
  name: string;
  eventName: string;
  allowReentry: boolean;
  reentryKey: string | null;
  includeAutomatic: boolean | null;
  entryStepId: string | null;
}

/** A workflow whose executions end on some events of their contact. */
export interface ExitingWorkflow extends Exits {
  id: string;
}

/** A step of an execution that waits for an event of its contact. */
export interface OpenWait {
  executionId: string;
  visit: number;
  contactId: string;
  eventName: string;
  filters: unknown;
  includeAutomatic: boolean | null;
}

export interface SubscribedEndpoint {
  id: string;
  /** Names and prefixes of the events that the endpoint receives. */
  events: string[];
}

/** Everything that may react to an event. The caller compares the names that the endpoints and exits contain. */
export interface Listeners {
  /** Enabled workflows that one of the events starts. Read by the partial index `workflows_trigger`. */
  workflows: TriggeredWorkflow[];
  /** Workflows whose executions one of the events may end, at any step. Read by the partial index `workflows_exits`. */
  exiting: ExitingWorkflow[];
  /** Open waits of these contacts for one of the events. */
  waits: OpenWait[];
  /** Webhook endpoints of the project that are not disabled. */
  endpoints: SubscribedEndpoint[];
  /** The project's time zone, in which filters read date-times without an offset. */
  zone?: string;
}

/**
 * Finds everything that may react to events of these names and contacts of a project. Uses a single query, because it
 * runs whenever events are recorded.
 */
export async function findListeners(
  db: Db,
  p: { projectId: string; eventNames: string[]; contactIds: string[] },
): Promise<Listeners> {
  const { rows } = await prepared<Listeners>`
    SELECT
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'name', name, 'eventName', event_name,
          'allowReentry', allow_reentry, 'reentryKey', reentry_key, 'includeAutomatic', include_automatic, 'entryStepId', entry_step_id) ORDER BY id), '[]')
        FROM workflows
        WHERE project_id = ${p.projectId} AND event_name = ANY(${p.eventNames}::text[]) AND enabled AND trigger_type = 'EVENT'
      ) AS workflows,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'exitOn', coalesce(exit_on, '[]'),
          'exitWhenUnsubscribed', exit_when_unsubscribed) ORDER BY id), '[]')
        FROM workflows WHERE project_id = ${p.projectId} AND (exit_on IS NOT NULL OR exit_when_unsubscribed)
          AND (${canExitOn(sql`ANY(${p.eventNames}::text[])`)})
      ) AS exiting,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('executionId', execution_id, 'visit', visit, 'contactId', contact_id,
          'eventName', event_name, 'filters', filters, 'includeAutomatic', include_automatic)), '[]')
        FROM execution_waits
        WHERE contact_id = ANY(${p.contactIds}::uuid[]) AND event_name = ANY(${p.eventNames}::text[]) AND event_id IS NULL
          AND project_id = ${p.projectId}
      ) AS waits,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('id', id, 'events', events)), '[]')
        FROM webhook_endpoints WHERE project_id = ${p.projectId} AND status <> 'DISABLED'
      ) AS endpoints,
      (SELECT timezone FROM projects WHERE id = ${p.projectId}) AS zone
  `.execute(db);
  return rows[0] ?? { workflows: [], exiting: [], waits: [], endpoints: [] };
}

/**
 * Tells whether anything could react to an event with this name. The event may start a workflow, end executions of a
 * workflow, end the wait of a step, or be sent to a webhook endpoint. If nothing reacts, the campaign sender inserts
 * plain event rows for many emails in one statement. The sender checks once per turn of a chunk, and again with each
 * batch that it records (`hasListenersSql`).
 */
export async function hasListeners(db: Db, p: { projectId: string; eventName: string }): Promise<boolean> {
  const { rows } = await sql<{ listens: boolean }>`
    SELECT ${hasListenersSql(sql`${p.projectId}::uuid`, p.eventName)} AS listens
  `.execute(db);
  return rows[0]?.listens ?? false;
}

/** Builds the check of `hasListeners` as an SQL condition for another statement. */
export function hasListenersSql(projectId: RawBuilder<unknown>, eventName: string): RawBuilder<boolean> {
  return sql<boolean>`(EXISTS (
        SELECT FROM workflows WHERE project_id = ${projectId} AND event_name = ${eventName} AND enabled AND trigger_type = 'EVENT')
      OR EXISTS (
        SELECT FROM workflows WHERE project_id = ${projectId} AND (exit_on IS NOT NULL OR exit_when_unsubscribed)
          AND (${canExitOn(sql`${eventName}::text`)}))
      OR EXISTS (
        SELECT FROM workflow_steps
        WHERE project_id = ${projectId} AND type = 'WAIT_FOR_EVENT' AND config->>'eventName' = ${eventName})
      OR EXISTS (
        SELECT FROM webhook_endpoints w, unnest(w.events) AS pattern
        WHERE w.project_id = ${projectId} AND w.status <> 'DISABLED' AND (pattern = ${eventName}
          OR (right(pattern, 1) = '*' AND starts_with(${eventName}, left(pattern, -1))))))`;
}

/**
 * SQL condition that an event with this name can end executions of a row of `workflows`. `name` may be `ANY` of several
 * names.
 */
function canExitOn(name: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(exit_when_unsubscribed AND ${UNSUBSCRIBED_EVENT}::text = ${name})
    OR EXISTS (SELECT FROM jsonb_array_elements(exit_on) AS x WHERE x->>'eventName' = ${name})`;
}
