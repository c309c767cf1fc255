import { inTransaction } from '../../db/transaction.ts';
import { resumeExecution } from '../../engine/automations/resume.ts';
import type { Next, StepInput } from '../../rules/executions/execution.ts';
import type { EffectOn } from '../../rules/executions/steps/registry.ts';
import { RowMissing } from '../../rules/row-missing.ts';
import type { ActivityDeps } from '../deps.ts';
import { withHeartbeats } from '../heartbeats.ts';
import { createSendEmailStep } from './send-email-step.ts';
import { createSendSmsStep } from './send-sms-step.ts';
import { createUpdateContactStep } from './update-contact-step.ts';
import { createWebhookStep } from './webhook-step.ts';

type StepActivities<Name extends string> = Record<Name, (input: StepInput) => Promise<Next>>;

export type EffectActivities = StepActivities<EffectOn<'steps'> | 'ADVANCE'>;
export type WebhookActivities = StepActivities<EffectOn<'webhooks'>>;

/**
 * The activities for the steps of an execution, one activity type for each kind of effect. Each activity ends the pause
 * before its step, reads the step's current version, performs the effect, advances the execution and returns the next
 * position. If a user's edit of the workflow has replaced the step, the activity performs nothing and returns the
 * position at the new step. Each activity is safe to run twice, because the database records what a visit has done.
 */
export function createExecutionStepActivities(deps: ActivityDeps): EffectActivities {
  return addHeartbeats<keyof EffectActivities>({
    SEND_EMAIL: createSendEmailStep(deps),
    UPDATE_CONTACT: createUpdateContactStep(deps),
    SEND_SMS: createSendSmsStep(deps),
    ADVANCE: createAdvance(deps),
  });
}

/** The activity for WEBHOOK steps. This activity has a separate task queue, because tenants' endpoints may be slow. */
export function createWebhookStepActivities(deps: ActivityDeps): WebhookActivities {
  return addHeartbeats<keyof WebhookActivities>({ WEBHOOK: createWebhookStep(deps) });
}

/** Creates the ADVANCE activity, which advances an execution from a pause to its next position, without an effect. */
function createAdvance({ db }: ActivityDeps): (input: StepInput) => Promise<Next> {
  return async (input) => {
    const { next } = await inTransaction(db, (trx) => resumeExecution(trx, input));
    return next;
  };
}

/**
 * Returns `next` if the execution's row exists.
 * @throws RowMissing when it does not
 */
function assertRow({ executionId }: StepInput, next: Next): Next {
  if (next.kind === 'end' && next.missing) throw new RowMissing('execution', executionId);
  return next;
}

/** Adds heartbeats and the check of the execution's row to each activity. */
function addHeartbeats<Name extends string>(activities: StepActivities<Name>): StepActivities<Name> {
  const entries = Object.entries<StepActivities<Name>[Name]>(activities);
  return Object.fromEntries(
    entries.map(([name, run]) => [
      name,
      (input: StepInput) => withHeartbeats(async () => assertRow(input, await run(input))),
    ]),
  ) as StepActivities<Name>;
}
