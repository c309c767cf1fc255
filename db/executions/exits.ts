import { sql } from 'kysely';
import { exitReason } from '../../rules/executions/exits.ts';
import { groupBy } from '../../rules/filters/group-by.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { Trx } from '../connection.ts';
import type { ExitingWorkflow } from '../events/listeners.ts';
import { endExecutions } from './end-executions.ts';

interface HappenedEvent {
  contactId: string | null;
  name: string;
  data: Record<string, unknown>;
}

/**
 * Ends the executions that these events end by `exitOn` or `exitWhenUnsubscribed` of their workflows as they are now,
 * in the caller's transaction, which holds the contacts' locks. The outbox wakes their Temporal workflows, in the
 * middle of a delay or a wait too.
 */
export async function exitExecutions(
  trx: Trx,
  p: { projectId: string; events: HappenedEvent[]; workflows: ExitingWorkflow[] },
): Promise<{ ids: string[]; outbox: OutboxRow[] }> {
  const { projectId, events, workflows } = p;
  const now = new Date();
  const ended: { ids: string[]; outbox: OutboxRow[] } = { ids: [], outbox: [] };
  for (const workflow of workflows) {
    const exits = events.flatMap((event) => {
      const reason = exitReason(workflow, event, now);
      return reason && event.contactId !== null ? [{ reason, contactId: event.contactId }] : [];
    });
    for (const [reason, theirs] of groupBy(exits, (exit) => exit.reason)) {
      const contactIds = theirs.map(({ contactId }) => contactId);
      const where = sql<boolean>`workflow_id = ${workflow.id} AND contact_id = ANY(${contactIds}::uuid[])`;
      const { ids, outbox } = await endExecutions(trx, { projectId, where, status: 'EXITED', reason });
      ended.ids.push(...ids);
      ended.outbox.push(...outbox);
    }
  }
  return ended;
}
