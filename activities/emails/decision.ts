import type { ProviderResult } from '../../channels/email/provider.ts';
import type { ClaimedEmail } from '../../db/sending/email-ledger.ts';
import { type BounceVerdict, classifyReply } from '../../rules/emails/bounce.ts';
import { bounceReason } from '../../rules/emails/bounce-reason.ts';
import type { EmailOutcome } from '../../rules/emails/email-outcome.ts';
import { type Reason, suppressedBy } from '../../rules/emails/reasons.ts';
import { nextAttemptAt } from '../../rules/emails/retry-schedule.ts';

/**
 * What keeps a mail from leaving, decided when it is about to: erased contact, suppression, consent, sender, hold. Undefined lets it go.
 * A test mail is never held: nothing of it reaches anyone. Source: contract §6.3, §9.8.
 */
export function refusalOf(email: ClaimedEmail): EmailOutcome | undefined {
  if (!email.to) return failed('contact_deleted');
  if (email.suppressedBy) return failed(suppressedBy(email.suppressedBy));
  if (email.contentType === 'MARKETING' && !email.contact?.subscribed) return failed('unsubscribed');
  if (!email.senderDomain) return failed('sender_not_verified');
  const held = email.project.held && email.mode === 'live' && isHoldable(email);
  return held ? { kind: 'held' } : undefined;
}

/** Marketing and automation wait for the end of a hold; transactional mail goes on (contract §9.8). */
function isHoldable(email: ClaimedEmail): boolean {
  return email.sourceType !== 'TRANSACTIONAL' || email.contentType === 'MARKETING';
}

export function failed(reason: Reason, error: string | null = null): EmailOutcome {
  return { kind: 'failed', reason, error };
}

/** A final verdict on a message as the outcome of its email. */
export function bounceOutcome(verdict: BounceVerdict, error: string): EmailOutcome {
  const reason = bounceReason(verdict.class);
  if (verdict.status === 'FAILED') return failed(reason, error);
  return { kind: 'bounced', bounceType: verdict.bounceType, reason, error, unsubscribe: verdict.unsubscribe };
}

/** What a refusal means; `accepted` and what is in doubt have no verdict. */
export function verdictOf(result: ProviderResult): BounceVerdict | undefined {
  if (result.outcome !== 'refused') return undefined;
  const { code, enhanced, text, stage } = result;
  return classifyReply({ code, enhanced, text, stage });
}

/** Puts a mail off, or gives it up when its day is over. */
export function later(email: ClaimedEmail, error: string, expiresAt: Date): EmailOutcome {
  const dueAt = nextAttemptAt({ attempts: email.attempts, now: new Date(), expiresAt, random: Math.random() });
  return dueAt ? { kind: 'later', dueAt, error } : failed('expired', error);
}
