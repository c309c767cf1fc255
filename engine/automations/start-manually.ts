import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { lockOneContact } from '../../db/contacts/locks.ts';
import type { WorkflowRef } from '../../db/executions/executions.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { AppError } from '../../rules/errors.ts';
import type { ExecutionStatus } from '../../rules/executions/execution.ts';
import { computeReentryValue } from '../../rules/executions/reentry-key.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { startExecutions } from './start.ts';

/**
 * Starts an execution for one contact, for the API operation that starts executions.
 * @throws AppError NOT_FOUND for the workflow or contact; CONFLICT when the workflow is disabled or the contact may not
 * enter (or enter again)
 */
export async function startManually(
  trx: Trx,
  p: WorkflowRef & { contactId: string; context: Record<string, unknown>; mode: KeyMode },
): Promise<{ executionId: string; outbox: OutboxRow[] }> {
  const workflow = await lockWorkflowForStart(trx, p);
  if (!workflow.enabled) {
    throw new AppError('CONFLICT', {
      message: 'The workflow is disabled.',
      details: { enabled: false },
      suggestion: 'Enable it with PATCH /workflows/{id} {"enabled": true}.',
    });
  }
  await lockOneContact(trx, p);
  const start = {
    contactId: p.contactId,
    eventId: null,
    eventName: null,
    event: {},
    context: p.context,
    untrusted: false,
    untrustedTrigger: false,
    mode: p.mode,
    causeId: null,
  };
  const { executionIds, outbox } = await startExecutions(trx, { projectId: p.projectId, workflow, starts: [start] });
  const [executionId] = executionIds;
  if (executionId === undefined)
    throw await createEntryRefusal(trx, p, workflow, computeReentryValue(workflow.reentryKey, start));
  return { executionId, outbox };
}

/**
 * Reads a workflow and locks it, so that no other transaction deletes it before the start commits.
 * @throws AppError NOT_FOUND
 */
export async function lockWorkflowForStart(trx: Trx, p: WorkflowRef) {
  const { rows } = await sql<{
    id: string;
    enabled: boolean;
    allowReentry: boolean;
    reentryKey: string | null;
    entryStepId: string | null;
  }>`
    SELECT id, enabled, allow_reentry AS "allowReentry", reentry_key AS "reentryKey", entry_step_id AS "entryStepId"
    FROM workflows WHERE project_id = ${p.projectId} AND id = ${p.workflowId} FOR KEY SHARE
  `.execute(trx);
  const workflow = rows[0];
  if (!workflow) throw new AppError('NOT_FOUND');
  return workflow;
}

async function createEntryRefusal(
  trx: Trx,
  p: WorkflowRef & { contactId: string },
  { allowReentry, reentryKey }: { allowReentry: boolean; reentryKey: string | null },
  value: string | undefined,
): Promise<AppError> {
  const { rows } = await sql<{ id: string; status: ExecutionStatus }>`
    SELECT id, status FROM executions WHERE workflow_id = ${p.workflowId} AND contact_id = ${p.contactId} AND NOT sandbox
      AND (${reentryKey === null} OR reentry_value IS NOT DISTINCT FROM ${value ?? null}::uuid)
    ORDER BY id DESC LIMIT 1
  `.execute(trx);
  const message = allowReentry
    ? 'The contact has an active execution of this workflow.'
    : 'The contact has entered this workflow before, and it does not allow re-entry.';
  return new AppError('CONFLICT', {
    message,
    details: { executionId: rows[0]?.id, status: rows[0]?.status },
    suggestion: allowReentry
      ? 'Wait for the execution in details, or cancel it with DELETE /v1/workflows/{id}/executions/{executionId}.'
      : 'Set allowReentry with PATCH /v1/workflows/{id}, or test with sandbox: true.',
  });
}
