import type { LastAttempt } from './last-attempt.ts';
import { bouncedAs, type Reason } from './reasons.ts';
import type { AboutRecipient, Refusal } from './refusal.ts';

/** The outcome of one attempt to send an email, from the provider's reply to the email's row. */
export type AttemptOutcome = RecordedOutcome | UntriedOutcome;

/** An outcome that the email's row records. All but `deferred` are final for this delivery. */
export type RecordedOutcome =
  | { kind: 'accepted'; providerMessageId: string | null; subject: string }
  /**
   * The email will never be sent: by our own decision, after a refusal about us or the message, or after too many
   * attempts. If the receiving side does not want the sender, `refusesSender` is set, and `provider` runs the mailbox.
   */
  | { kind: 'failed'; reason: Reason; error: string | null; refusesSender?: true; provider?: string }
  /** The receiving side refused the recipient permanently. Only this outcome changes the contact. */
  | { kind: 'bounced'; refusal: AboutRecipient; error: string }
  /** The project's sending is on hold. The email is sent when the hold is released. */
  | { kind: 'held' }
  /**
   * A temporary failure, or an unknown result: the next attempt is at `dueAt`. The row stays SENDING and keeps its
   * delivery. `error` has the provider's reply, `last` only its codes: Temporal shows `last`.
   */
  | { kind: 'deferred'; dueAt: Date; error: string; last: LastAttempt };

/** The email was not attempted, its claim was returned, and nothing counts as an attempt. */
export type UntriedOutcome =
  /** The send rate, the project's compute budget or a paused route allows no email before `dueAt`. */
  | { kind: 'throttled'; cause: 'rate' | 'budget' | 'route'; dueAt: Date }
  /** The project's sending window opens at `dueAt`. */
  | { kind: 'outside_window'; dueAt: Date }
  /** The process is stopping. */
  | { kind: 'stopped' };

/** Tells whether an email was not attempted, so that nothing is recorded. */
export function isUntried(outcome: AttemptOutcome): outcome is UntriedOutcome {
  return outcome.kind === 'throttled' || outcome.kind === 'outside_window' || outcome.kind === 'stopped';
}

export function failWith(reason: Reason, error: string | null = null): RecordedOutcome {
  return { kind: 'failed', reason, error };
}

/** Ends an email by a refusal that is not retried. */
export function refuseWith(refusal: Refusal, error: string): RecordedOutcome {
  if (refusal.about === 'recipient') return { kind: 'bounced', refusal, error };
  const outcome = { kind: 'failed' as const, reason: reasonOfRefusal(refusal), error };
  return refusesSender(refusal) ? { ...outcome, refusesSender: true } : outcome;
}

/** Returns the reason for an email with this refusal. */
export function reasonOfRefusal(refusal: Refusal): Reason {
  return refusal.about === 'recipient' ? bouncedAs(refusal.why) : 'provider_rejected';
}

/** Tells whether a receiver does not want the sender, which counts towards the hold of its project. */
export function refusesSender(refusal: Refusal): boolean {
  return refusal.about === 'us' && refusal.why === 'policy';
}
