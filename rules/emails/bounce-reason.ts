import type { BounceClass } from './bounce.ts';
import { bouncedAs, type Reason } from './reasons.ts';

/** The words of the table of bounces, as the reasons of an email spell them. */
const REASON_OF: Record<BounceClass, Reason> = {
  dead_mailbox: bouncedAs('dead_mailbox'),
  mailbox_for_now: bouncedAs('mailbox_for_now'),
  policy: bouncedAs('policy'),
  message: bouncedAs('message'),
  routing: bouncedAs('routing'),
  session: bouncedAs('mailbox_for_now'),
  unknown: bouncedAs('unknown'),
};

/** Why an email that was refused so did not arrive. */
export function bounceReason(bounceClass: BounceClass): Reason {
  return REASON_OF[bounceClass];
}
