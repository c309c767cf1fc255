import type { Trx } from '../../db/connection.ts';
import { enqueue } from '../../db/outbox/outbox.ts';
import { isOwnedBySql } from '../../db/owned-by.ts';
import { prepared } from '../../db/prepared.ts';
import { loadGraph } from '../../db/workflows/graph.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { EMAIL_RECEIVED_EVENT, INBOUND_STARTS_PER_HOUR } from '../../rules/events/automatic-emails.ts';
import type { ExecutionInput } from '../../rules/executions/execution.ts';
import { NO_EXITS } from '../../rules/executions/exits.ts';
import { computeReentryValue } from '../../rules/executions/reentry-key.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { createRealEnvironment } from './environment.ts';
import { addPath } from './path.ts';
import { createPendingWrites, savePendingWrites } from './pending-writes.ts';
import { type WalkingExecution, type WalkStop, walk } from './walk.ts';

/**
 * The maximum length of a chain of executions, in which a step of one execution causes the event that starts the next
 * one. Without a maximum, workflows that start each other would never stop.
 */
const MAX_DEPTH = 10;
/**
 * The error of an execution whose step caused an event that would make the chain longer than `MAX_DEPTH`. The execution
 * continues.
 */
const TOO_DEEP = 'event_depth';

export interface ExecutionRequest {
  contactId: string;
  eventId: string | null;
  eventName: string | null;
  event: Record<string, unknown>;
  context: Record<string, unknown>;
  untrusted: boolean;
  /** Whether an unauthenticated caller started the execution. The data of the event may still come from the tenant. */
  untrustedTrigger: boolean;
  mode: KeyMode;
  /** The execution whose step caused the event. */
  causeId: string | null;
}

export interface ExecutionStarts {
  projectId: string;
  workflow: { id: string; allowReentry: boolean; reentryKey: string | null; entryStepId: string | null };
  starts: ExecutionRequest[];
}

/**
 * Starts executions of a workflow for contacts, in the caller's transaction, which has locked the contacts. Skips
 * contacts that may not enter: the inserting statement and the unique indexes of `executions` refuse them, so no
 * earlier read is necessary (contract §7.4 Re-entry). Each execution walks to its first effect or pause at once, and
 * its Temporal workflow starts there. After a chain of `MAX_DEPTH` executions no further execution starts, and the last
 * one records the error `event_depth`.
 */
export async function startExecutions(
  trx: Trx,
  p: ExecutionStarts,
): Promise<{ executionIds: string[]; outbox: OutboxRow[] }> {
  if (p.starts.length === 0) return { executionIds: [], outbox: [] };
  const entered = await insertExecutions(trx, p);
  if (entered.length === 0) return { executionIds: [], outbox: [] };
  const { projectId, workflow } = p;
  const outbox = await launchExecutions(trx, { projectId, workflow, entered });
  return { executionIds: entered.map((execution) => execution.id), outbox };
}

/** Walks new executions to their first effect or pause, and queues the start of their Temporal workflows. */
export async function launchExecutions(
  trx: Trx,
  p: Pick<ExecutionStarts, 'projectId'> & {
    workflow: { id: string; entryStepId: string | null };
    entered: WalkingExecution[];
  },
): Promise<OutboxRow[]> {
  const graph = await loadGraph(trx, { projectId: p.projectId, workflowId: p.workflow.id });
  const stops: { execution: WalkingExecution; stop: WalkStop }[] = [];
  const pending = createPendingWrites();
  const environment = createRealEnvironment(trx);
  for (const execution of p.entered) {
    const stop = await walk(environment, { execution, graph, stepId: p.workflow.entryStepId, pending });
    stops.push({ execution, stop });
  }
  await savePendingWrites(trx, { projectId: p.projectId, pending });
  const { projectId } = p;
  const inputs: (ExecutionInput & { contactId: string })[] = stops.flatMap(({ execution, stop }) => {
    const { id: executionId, contactId } = execution;
    // An execution that ends at once needs no run in Temporal, unless it failed: operators look for failures in
    // Temporal.
    if (stop.next.kind === 'end' && stop.next.status !== 'FAILED') return [];
    return [{ projectId, executionId, next: addPath(stop.next, { executionId, graph, pending }), contactId }];
  });
  return enqueue(
    trx,
    inputs.map((input) => ({
      projectId: p.projectId,
      kind: 'execution.start' as const,
      refId: input.executionId,
      payload: { ...input, workflowId: p.workflow.id },
    })),
  );
}

/**
 * Inserts all executions in one statement. `entry` is 1 if the workflow allows no re-entry and has no `reentryKey`;
 * otherwise it is the contact's last entry plus 1, 2 and so on. A conflict on a unique index means that the contact has
 * an open execution, or has entered a workflow without re-entry before. With a `reentryKey`, both rules apply
 * separately to each value of the key. This statement also stops email loops: inbound email starts a workflow at most
 * `INBOUND_STARTS_PER_HOUR` times for a contact. The contact's lock prevents two transactions from counting these
 * starts at the same time. If a start by an event is refused, the event records the reason (`not_started`).
 */
async function insertExecutions(trx: Trx, p: ExecutionStarts): Promise<WalkingExecution[]> {
  const { starts, workflow } = p;
  const ids = starts.map(() => uuidv7());
  const values = starts.map((start) => computeReentryValue(workflow.reentryKey, start) ?? null);
  const hasKey = workflow.reentryKey !== null;
  const { rows } = await prepared<{ id: string }>`
    WITH u AS MATERIALIZED (
      SELECT s.*, coalesce((SELECT x.depth + 1 FROM executions x WHERE x.id = s.cause_id AND ${isOwnedBySql('x.project_id', p.projectId)}), 0) AS depth
      FROM unnest(${ids}::uuid[], ${starts.map((s) => s.contactId)}::uuid[], ${starts.map((s) => s.eventId)}::uuid[],
        ${starts.map((s) => s.eventName)}::text[], ${starts.map((s) => JSON.stringify(s.event))}::jsonb[],
        ${starts.map((s) => JSON.stringify(s.context))}::jsonb[], ${starts.map((s) => s.untrusted)}::boolean[],
        ${starts.map((s) => s.untrustedTrigger)}::boolean[], ${starts.map((s) => s.mode)}::text[], ${starts.map((s) => s.causeId)}::uuid[],
        ${values}::uuid[])
        AS s (id, contact_id, event_id, event_name, event, context, untrusted, swayed, mode, cause_id, reentry_value)
    ), too_deep AS (
      UPDATE executions SET error = coalesce(error, ${TOO_DEEP}::text)
      WHERE id = ANY(ARRAY(SELECT cause_id FROM u WHERE depth >= ${MAX_DEPTH}::int))
    ), inserted AS (
    INSERT INTO executions
      (id, project_id, workflow_id, contact_id, entry, event_id, event_name, event, context, untrusted, swayed, mode, depth,
       reentry_value)
    SELECT u.id, ${p.projectId}, ${workflow.id}, u.contact_id,
      CASE WHEN ${workflow.allowReentry || hasKey} THEN coalesce((
        SELECT max(x.entry) FROM executions x WHERE x.workflow_id = ${workflow.id} AND x.contact_id = u.contact_id), 0)
        + CASE WHEN ${hasKey} THEN row_number() OVER (PARTITION BY u.contact_id ORDER BY u.id) ELSE 1 END
      ELSE 1 END,
      u.event_id, u.event_name, u.event, u.context, u.untrusted, u.swayed, u.mode, u.depth, u.reentry_value
    FROM u WHERE u.depth < ${MAX_DEPTH}::int
      AND (NOT ${hasKey} OR ${workflow.allowReentry} OR NOT EXISTS (
        SELECT FROM executions x WHERE x.workflow_id = ${workflow.id} AND x.contact_id = u.contact_id AND NOT x.sandbox
          AND x.reentry_value IS NOT DISTINCT FROM u.reentry_value))
      AND (u.event_name IS DISTINCT FROM ${EMAIL_RECEIVED_EVENT}::text OR ${INBOUND_STARTS_PER_HOUR}::int > (
        SELECT count(*) FROM executions x WHERE x.workflow_id = ${workflow.id} AND x.contact_id = u.contact_id
          AND x.event_name = ${EMAIL_RECEIVED_EVENT}::text AND NOT x.sandbox AND x.started_at > now() - interval '1 hour'))
    ON CONFLICT DO NOTHING
    RETURNING id
    ), refused AS (
      SELECT u.event_id, CASE WHEN u.depth >= ${MAX_DEPTH}::int THEN 'event_depth'
          WHEN last.id IS NULL THEN 'active'
          WHEN last.is_open THEN 'active'
          WHEN NOT ${workflow.allowReentry} THEN 'entered_before'
          WHEN u.event_name = ${EMAIL_RECEIVED_EVENT}::text THEN 'too_often' ELSE 'active' END AS reason, last.id AS execution_id
      FROM u LEFT JOIN inserted i ON i.id = u.id LEFT JOIN LATERAL (
        SELECT x.id, x.completed_at IS NULL AS is_open FROM executions x
        WHERE x.workflow_id = ${workflow.id} AND x.contact_id = u.contact_id AND NOT x.sandbox AND ${isOwnedBySql('x.project_id', p.projectId)}
          AND (NOT ${hasKey} OR x.reentry_value IS NOT DISTINCT FROM u.reentry_value)
        ORDER BY x.entry DESC LIMIT 1) last ON u.depth < ${MAX_DEPTH}::int
      WHERE i.id IS NULL AND u.event_id IS NOT NULL
    ), noted AS (
      UPDATE events e SET not_started = coalesce(e.not_started, '[]') || jsonb_build_array(jsonb_build_object(
        'workflowId', ${workflow.id}::uuid, 'reason', r.reason, 'executionId', r.execution_id))
      FROM refused r WHERE e.id = r.event_id AND ${isOwnedBySql('e.project_id', p.projectId)}
    )
    SELECT id FROM inserted
  `.execute(trx);
  const inserted = new Set(rows.map((row) => row.id));
  return starts.flatMap((start, index) => {
    const id = ids[index];
    if (id === undefined || !inserted.has(id)) return [];
    return [
      {
        ...start,
        id,
        projectId: p.projectId,
        workflowId: workflow.id,
        visit: 0,
        laps: null,
        run: null,
        exits: NO_EXITS,
      },
    ];
  });
}
