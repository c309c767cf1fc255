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
 * All types of steps in tenants' workflows. Add a new type here. The compiler then reports the other files that need
 * code for the type: the activity and the preview of an effect, or the walk if the step has no effect.
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

/** All step types, in the order of the API documentation. */
export const STEP_TYPES = Object.keys(STEPS) as StepType[];

type TypeOf<Definition> = {
  [Type in StepType]: (typeof STEPS)[Type] extends Definition ? Type : never;
}[StepType];

/** The step types whose effects run on a task queue. */
export type EffectOn<Queue extends EffectQueue> = TypeOf<{ kind: 'effect'; queue: Queue }>;
/** The step types with a side effect. Each has an activity type with the same name. */
export type EffectType = EffectOn<EffectQueue>;

/** Tells whether a step of this type has a side effect. */
export function hasSideEffect(type: StepType): type is EffectType {
  return STEPS[type].kind === 'effect';
}
