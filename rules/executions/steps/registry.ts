import { condition } from './condition.ts';
import type { EffectQueue, StepDefinition } from './definition.ts';
import { delay } from './delay.ts';
import { exit } from './exit.ts';
import { sendEmail } from './send-email.ts';
import { sendSms } from './send-sms.ts';
import { split } from './split.ts';
import { updateContact } from './update-contact.ts';
import { waitForEvent } from './wait-for-event.ts';
import { webhook } from './webhook.ts';

/**
 * Every type of step of a tenant's workflow. A new type is added here. The compiler then names the other places that
 * have to know it: the activity of an effect and its preview, and the walk if the step is not an effect.
 */
export const STEPS = {
  SEND_EMAIL: sendEmail,
  DELAY: delay,
  WAIT_FOR_EVENT: waitForEvent,
  CONDITION: condition,
  WEBHOOK: webhook,
  UPDATE_CONTACT: updateContact,
  EXIT: exit,
  SEND_SMS: sendSms,
  SPLIT: split,
} satisfies Record<string, StepDefinition>;

export type StepType = keyof typeof STEPS;

/** In the order in which the API names them. */
export const STEP_TYPES = Object.keys(STEPS) as StepType[];

type TypeOf<Definition> = {
  [Type in StepType]: (typeof STEPS)[Type] extends Definition ? Type : never;
}[StepType];

/** Effects of one task queue. */
export type EffectOn<Queue extends EffectQueue> = TypeOf<{ kind: 'effect'; queue: Queue }>;
/** Steps with a side effect. Each is an activity type with the same name. */
export type EffectType = EffectOn<EffectQueue>;

/** Tells whether a step of this type has a side effect. */
export function isEffect(type: StepType): type is EffectType {
  return STEPS[type].kind === 'effect';
}
