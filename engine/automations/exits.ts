import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import type { ExitingWorkflow } from '../../db/events/listeners.ts';
import { endExecutions } from '../../db/executions/end-executions.ts';
import { hasExpression } from '../../rules/content/expressions.ts';
import { fillExits, findExitReason } from '../../rules/executions/exits.ts';
import type { FilterClock } from '../../rules/filters/evaluate.ts';
import { groupBy } from '../../rules/filters/group-by.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { loadStepVariables } from './variables.ts';

interface HappenedEvent {
  contactId: string | null;
  name: string;
  data: Record<string, unknown>;
}

/**
 * Ends open executions for two reasons: the workflow names one of these events in `exitOn`, or it ends on
 * unsubscription (`exitWhenUnsubscribed`) and the contact unsubscribed. The current settings of the workflow apply,
 * also for older executions. Runs in the caller's transaction, which has locked the contacts. The returned rows of the
 * outbox then end the Temporal workflows, even during a delay or a wait.
 */
export async function exitExecutions(
  trx: Trx,
  p: { projectId: string; zone: string | undefined; events: HappenedEvent[]; workflows: ExitingWorkflow[] },
): Promise<{ ids: string[]; outbox: OutboxRow[] }> {
  const { projectId, events, workflows } = p;
  const clock = { now: new Date(), zone: p.zone };
  const ended: { ids: string[]; outbox: OutboxRow[] } = { ids: [], outbox: [] };
  for (const workflow of workflows) {
    if (hasExpression(workflow.exitOn)) {
      for (const endedExecutions of await exitByVariables(trx, { projectId, events, workflow, clock }))
        addEnded(ended, endedExecutions);
      continue;
    }
    const exits = events.flatMap((event) => {
      const reason = findExitReason(workflow, event, clock);
      return reason && event.contactId !== null ? [{ reason, contactId: event.contactId }] : [];
    });
    for (const [reason, exitsOfReason] of groupBy(exits, (exit) => exit.reason)) {
      const contactIds = exitsOfReason.map(({ contactId }) => contactId);
      const where = sql<boolean>`workflow_id = ${workflow.id} AND contact_id = ANY(${contactIds}::uuid[])`;
      addEnded(ended, await endExecutions(trx, { projectId, where, status: 'EXITED', reason }));
    }
  }
  return ended;
}

interface Ended {
  ids: string[];
  outbox: OutboxRow[];
}

function addEnded(ended: Ended, { ids, outbox }: Ended): void {
  ended.ids.push(...ids);
  ended.outbox.push(...outbox);
}

type OpenExecution = Parameters<typeof loadStepVariables>[1] & { id: string };

/**
 * Ends executions of a workflow whose exits have filters with variables. The filters are filled in separately for each
 * execution.
 */
async function exitByVariables(
  trx: Trx,
  p: { projectId: string; events: HappenedEvent[]; workflow: ExitingWorkflow; clock: FilterClock },
): Promise<Ended[]> {
  const { projectId, workflow, clock } = p;
  const contactIds = p.events.flatMap(({ contactId }) => contactId ?? []);
  const { rows } = await sql<OpenExecution>`
    SELECT id, project_id AS "projectId", contact_id AS "contactId", event, context, untrusted, run FROM executions
    WHERE project_id = ${projectId} AND workflow_id = ${workflow.id} AND contact_id = ANY(${contactIds}::uuid[])
      AND completed_at IS NULL
  `.execute(trx);
  const ended: Ended[] = [];
  for (const execution of rows) {
    const { variables } = await loadStepVariables(trx, execution);
    const exits = { ...workflow, exitOn: fillExits(workflow.exitOn, variables) };
    const eventsOfContact = p.events.filter(({ contactId }) => contactId === execution.contactId);
    const reason = eventsOfContact
      .map((event) => findExitReason(exits, event, clock))
      .find((found) => found !== undefined);
    if (!reason) continue;
    const where = sql<boolean>`id = ${execution.id}`;
    ended.push(await endExecutions(trx, { projectId, where, status: 'EXITED', reason }));
  }
  return ended;
}
