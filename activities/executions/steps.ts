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
 * The steps of an execution, one activity type for each kind of effect. Each ends the pause that led to it, reads its
 * step as it is now, acts, walks on, and returns the next thing to do. When the workflow was edited so that another
 * step comes, it returns that step instead. All may run again, because the database shows what a visit has done.
 */
export function executionStepActivities(deps: ActivityDeps): EffectActivities {
  return addHeartbeats<keyof EffectActivities>({
    SEND_EMAIL: createSendEmailStep(deps),
    UPDATE_CONTACT: createUpdateContactStep(deps),
    SEND_SMS: createSendSmsStep(deps),
    ADVANCE: createAdvance(deps),
  });
}

/** Apart from the others, because endpoints are slow: they have a task queue of their own. */
export function webhookStepActivities(deps: ActivityDeps): WebhookActivities {
  return addHeartbeats<keyof WebhookActivities>({ WEBHOOK: createWebhookStep(deps) });
}

/** The ADVANCE activity: it walks on from a pause to something without an effect. */
function createAdvance({ db }: ActivityDeps): (input: StepInput) => Promise<Next> {
  return async (input) => {
    const { next } = await inTransaction(db, (trx) => resumeExecution(trx, input));
    return next;
  };
}

/** @throws RowMissing where no row says how the execution stands */
function assertRow({ executionId }: StepInput, next: Next): Next {
  if (next.kind === 'end' && next.missing) throw new RowMissing('execution', executionId);
  return next;
}

/** Each of these activities, with heartbeats while it runs. */
function addHeartbeats<Name extends string>(activities: StepActivities<Name>): StepActivities<Name> {
  const entries = Object.entries<StepActivities<Name>[Name]>(activities);
  return Object.fromEntries(
    entries.map(([name, run]) => [
      name,
      (input: StepInput) => withHeartbeats(async () => assertRow(input, await run(input))),
    ]),
  ) as StepActivities<Name>;
}
