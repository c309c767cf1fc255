import type { Trx } from '../../db/connection.ts';
import { inSavepoint, inTransaction } from '../../db/transaction.ts';
import { completeEffect, type EffectPosition, resumeExecution } from '../../engine/automations/resume.ts';
import { loadStepVariables } from '../../engine/automations/variables.ts';
import { patchContact } from '../../engine/contacts/patch-contact.ts';
import { deriveKey } from '../../rules/access/secrets.ts';
import { AppError } from '../../rules/errors.ts';
import { fillUpdates, toUpdateOutput } from '../../rules/executions/contact-updates.ts';
import type { Next, StepInput } from '../../rules/executions/execution.ts';
import type { SandboxState } from '../../rules/executions/run.ts';
import { UpdateContactConfig } from '../../rules/executions/steps/update-contact.ts';
import { createRefusedUpdateOutcome, toUpdateStepOutcome } from '../../rules/executions/update-outcome.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import type { ActivityDeps } from '../deps.ts';

interface UpdateResult {
  next: Next;
  outbox: OutboxRow[];
}

/** Creates the UPDATE_CONTACT activity. The activity does all its work in one transaction. */
export function createUpdateContactStep(deps: ActivityDeps): (input: StepInput) => Promise<Next> {
  return async (input) => {
    const { next, outbox } = await inTransaction(deps.db, async (trx) => {
      const position = await resumeExecution(trx, input);
      const result = position.atEffect<Promise<UpdateResult>>('UPDATE_CONTACT', {
        real: (effect) => updateContact(deps, trx, effect),
        sandbox: (effect) => updateSandboxContact(trx, effect),
      });
      return result ?? { next: position.next, outbox: [] };
    });
    deps.outbox.wake(outbox);
    return next;
  };
}

/** Changes the contact, records its events and advances the execution in one transaction. */
async function updateContact(
  deps: ActivityDeps,
  trx: Trx,
  { execution, step, next }: EffectPosition<null>,
): Promise<UpdateResult> {
  const { projectId } = execution;
  const at = { executionId: execution.id, visit: next.visit };
  const config = UpdateContactConfig.parse(step.config);
  const { contact, variables } = await loadStepVariables(trx, execution);
  const data = fillUpdates(config.updates, variables);
  try {
    const { contact: saved, outbox } = await inSavepoint(trx, () =>
      patchContact(trx, {
        projectId,
        id: execution.contactId,
        data,
        subscribed: config.subscribed,
        untrustedTrigger: execution.untrustedTrigger,
        causeId: execution.id,
        suppressionKey: deriveKey(deps.config.secretKey, 'suppression'),
      }),
    );
    return {
      next: await completeEffect(trx, {
        projectId,
        ...at,
        status: 'COMPLETED',
        output: toUpdateOutput(
          { data: contact.data.values, subscribed: contact.subscribed },
          { updates: data.values, subscribed: saved.subscribed },
        ),
      }),
      outbox,
    };
  } catch (error) {
    // The new data exceeds a limit of the contact. The step becomes FAILED with this error, and the execution
    // continues.
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error;
    const errorText = error.errors ? createRefusedUpdateOutcome(error.errors).error : error.message;
    return { next: await completeEffect(trx, { projectId, ...at, status: 'FAILED', error: errorText }), outbox: [] };
  }
}

/** Changes the contact's data for a sandbox. Only this sandbox execution sees the change. */
async function updateSandboxContact(
  trx: Trx,
  { execution, step, next }: EffectPosition<SandboxState>,
): Promise<UpdateResult> {
  const { contact, variables } = await loadStepVariables(trx, execution);
  const outcome = toUpdateStepOutcome({
    config: step.config,
    contact,
    variables,
    untrustedTrigger: execution.untrustedTrigger,
  });
  const { projectId, id: executionId } = execution;
  return { next: await completeEffect(trx, { projectId, executionId, visit: next.visit, ...outcome }), outbox: [] };
}
