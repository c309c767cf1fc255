import type { Trx } from '../db/connection.ts';
import { patchContact } from '../db/contacts.ts';
import { atEffect, completeEffect, type EffectStanding, resumeExecution } from '../db/execution-resume.ts';
import { loadStepVariables } from '../db/execution-variables.ts';
import { inSavepoint, inTransaction } from '../db/transaction.ts';
import { AppError } from '../domain/errors.ts';
import type { Next, StepInput } from '../domain/execution.ts';
import { interpolateFields } from '../domain/interpolate.ts';
import type { OutboxRow } from '../domain/outbox.ts';
import { deriveKey } from '../domain/secrets.ts';
import { UpdateContactConfig } from '../domain/steps.ts';
import type { ActivityDeps } from './deps.ts';
import { withHeartbeats } from './heartbeats.ts';
import { createSendEmailStep } from './send-email-step.ts';
import { runWebhookStep } from './webhook-step.ts';

export type EffectActivities = ReturnType<typeof executionStepActivities>;
export type WebhookActivities = ReturnType<typeof webhookStepActivities>;

/**
 * The steps of a contact's execution, one activity type a kind of effect. Each ends the pause that led to it, looks at its step as it is
 * now, acts, walks on, and returns what comes next; where the workflow was edited so that another step comes, it returns that instead.
 * All may run again: what a visit has done is in the database.
 */
export function executionStepActivities(deps: ActivityDeps) {
  return beating({
    SEND_EMAIL: createSendEmailStep(deps),

    async UPDATE_CONTACT(input: StepInput): Promise<Next> {
      const { next, outbox } = await inTransaction(deps.db, async (trx) => {
        const standing = await resumeExecution(trx, input);
        const effect = atEffect(standing, 'UPDATE_CONTACT');
        return effect ? updateContact(deps, trx, effect) : { next: standing.next, outbox: [] };
      });
      deps.lifecycle.dispatch(outbox);
      return next;
    },

    async ADVANCE(input: StepInput): Promise<Next> {
      const { next } = await inTransaction(deps.db, (trx) => resumeExecution(trx, input));
      return next;
    },
  });
}

/** Apart from the others, because endpoints are slow: they have a task queue of their own. */
export function webhookStepActivities(deps: ActivityDeps) {
  return beating({
    async WEBHOOK(input: StepInput): Promise<Next> {
      const standing = await inTransaction(deps.db, (trx) => resumeExecution(trx, input));
      const effect = atEffect(standing, 'WEBHOOK');
      return effect ? runWebhookStep(deps, effect) : standing.next;
    },
  });
}

type StepActivities<K extends string> = Record<K, (input: StepInput) => Promise<Next>>;

/** Each of these activities, with heartbeats while it runs. */
function beating<K extends string>(activities: StepActivities<K>): StepActivities<K> {
  const entries = Object.entries<StepActivities<K>[K]>(activities);
  return Object.fromEntries(
    entries.map(([name, run]) => [name, (input: StepInput) => withHeartbeats(() => run(input))]),
  ) as StepActivities<K>;
}

/** The contact's change, its events and the execution's next step are one transaction. */
async function updateContact(
  deps: ActivityDeps,
  trx: Trx,
  { execution, step, next }: EffectStanding,
): Promise<{ next: Next; outbox: OutboxRow[] }> {
  const { projectId } = execution;
  const at = { executionId: execution.id, visit: next.visit };
  const config = UpdateContactConfig.parse(step.config);
  const { variables } = await loadStepVariables(trx, execution);
  const data = interpolateFields(config.updates, variables);
  try {
    const { outbox } = await inSavepoint(trx, () =>
      patchContact(trx, {
        projectId,
        id: execution.contactId,
        data,
        subscribed: config.subscribed,
        forStranger: execution.swayed,
        causeId: execution.id,
        suppressionKey: deriveKey(deps.config.secretKey, 'suppression'),
      }),
    );
    return {
      next: await completeEffect(trx, projectId, {
        ...at,
        status: 'COMPLETED',
        output: { updated: Object.keys(data.values) },
      }),
      outbox,
    };
  } catch (error) {
    // Data beyond the contact's limits: the step says so and the execution goes on.
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error;
    const fault = error.errors?.map(({ field, message }) => `${field}: ${message}`).join('; ') ?? error.message;
    return { next: await completeEffect(trx, projectId, { ...at, status: 'FAILED', error: fault }), outbox: [] };
  }
}
