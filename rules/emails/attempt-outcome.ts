import type { LastAttempt } from './last-attempt.ts';
import { type Reason, toBouncedReason } from './reasons.ts';
import type { AboutRecipient, Refusal } from './refusal.ts';

/**
 * The outcome of one attempt to send an email. A recorded outcome is stored in the email's row. After any other
 * outcome, the row is as it was before the attempt.
 */
export type AttemptOutcome = RecordedOutcome | UntriedOutcome;

/** An outcome that is recorded in the email's row. All of these outcomes except `deferred` end the delivery. */
export type RecordedOutcome =
  | { kind: 'accepted'; providerMessageId: string | null; subject: string }
  /**
   * The email is not sent: the service decided so, a server refused the sender or the message, or the email expired. If
   * the receiving side refuses the sender, `refusesSender` is set, and `provider` is the operator of the mailbox.
   */
  | { kind: 'failed'; reason: Reason; error: string | null; refusesSender?: true; provider?: string }
  /** The receiving side permanently refused the recipient. Only this outcome changes the contact. */
  | { kind: 'bounced'; refusal: AboutRecipient; error: string }
  /** The project's sending is on hold. The email will be sent after the hold is released. */
  | { kind: 'held' }
  /**
   * The attempt failed temporarily, or its result is unknown. The email keeps its status SENDING, and a workflow in
   * Temporal makes the next attempt at `dueAt`. `error` has the provider's reply. `last` has only the codes of the
   * reply, because Temporal shows it.
   */
  | { kind: 'deferred'; dueAt: Date; error: string; last: LastAttempt };

/** The email was not attempted. The claim of the email was released, and the number of attempts did not change. */
export type UntriedOutcome =
  /** The send rate, the project's compute budget or a paused route allows no email before `dueAt`. */
  | { kind: 'throttled'; cause: 'rate' | 'budget' | 'route'; dueAt: Date }
  /** The email is outside the sending window, which opens at `dueAt`. */
  | { kind: 'outside_window'; dueAt: Date }
  /** The process is stopping. */
  | { kind: 'stopped' };

/** Tells whether an email was not attempted, so that nothing is recorded. */
export function isUntried(outcome: AttemptOutcome): outcome is UntriedOutcome {
  return outcome.kind === 'throttled' || outcome.kind === 'outside_window' || outcome.kind === 'stopped';
}

export function createFailedOutcome(reason: Reason, error: string | null = null): RecordedOutcome {
  return { kind: 'failed', reason, error };
}

/** Returns the outcome of a permanent refusal. */
export function createRefusedOutcome(refusal: Refusal, error: string): RecordedOutcome {
  if (refusal.about === 'recipient') return { kind: 'bounced', refusal, error };
  const outcome = { kind: 'failed' as const, reason: toRefusalReason(refusal), error };
  return isSenderRefused(refusal) ? { ...outcome, refusesSender: true } : outcome;
}

/** Returns the reason that an email with this refusal gets. */
export function toRefusalReason(refusal: Refusal): Reason {
  return refusal.about === 'recipient' ? toBouncedReason(refusal.why) : 'provider_rejected';
}

/** Tells whether a receiver refuses the sender. Refusals of the sender count towards a hold of the project. */
export function isSenderRefused(refusal: Refusal): boolean {
  return refusal.about === 'us' && refusal.why === 'policy';
}
