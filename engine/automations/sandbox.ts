import type { Trx } from '../../db/connection.ts';
import { lockOneContact } from '../../db/contacts/locks.ts';
import type { WorkflowRef } from '../../db/executions/executions.ts';
import { getWorkflow } from '../../db/workflows/workflows.ts';
import { createSandboxState, type RunEvent, type SandboxState } from '../../rules/executions/run.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { uuidv7 } from '../../rules/uuid.ts';
import { launchExecutions } from './start.ts';
import { lockWorkflowForStart } from './start-manually.ts';
import { fillExitVariables } from './variables.ts';

export interface SandboxStart extends WorkflowRef {
  contactId: string;
  context: Record<string, unknown>;
  skipDelays: boolean;
  events: RunEvent[];
  /** The project's time zone. */
  zone: string;
}

/**
 * Starts a sandbox of a workflow, enabled or not, for a contact. A real Temporal workflow runs it. Emails and SMS have
 * mode `test`, no webhook is called, and changes to the contact are stored only in the sandbox's `run`. A sandbox
 * starts no other executions. A sandbox does not count as an entry of the contact into the workflow, and can run at the
 * same time as other executions of the contact.
 * @throws AppError NOT_FOUND for the workflow or contact
 */
export async function startSandbox(trx: Trx, p: SandboxStart): Promise<{ executionId: string; outbox: OutboxRow[] }> {
  const { projectId, contactId, context } = p;
  const workflow = await lockWorkflowForStart(trx, p);
  const { exitOn, exitWhenUnsubscribed } = await getWorkflow(trx, { projectId, id: workflow.id });
  await lockOneContact(trx, p);
  const id = uuidv7();
  const run: SandboxState = createSandboxState({ skipDelays: p.skipDelays, events: p.events, zone: p.zone });
  await trx
    .insertInto('executions')
    .values({
      id,
      project_id: projectId,
      workflow_id: workflow.id,
      contact_id: contactId,
      entry: null,
      context: JSON.stringify(context),
      mode: 'test',
      sandbox: true,
      run: JSON.stringify(run),
    })
    .execute();
  const execution = {
    id,
    projectId,
    workflowId: workflow.id,
    contactId,
    context,
    event: {},
    visit: 0,
    laps: null,
    run,
    untrusted: false,
    untrustedTrigger: false,
    mode: 'test' as const,
    exits: { exitOn, exitWhenUnsubscribed },
  };
  execution.exits = await fillExitVariables(trx, execution, execution.exits);
  return { executionId: id, outbox: await launchExecutions(trx, { projectId, workflow, entered: [execution] }) };
}
