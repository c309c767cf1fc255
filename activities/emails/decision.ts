import type { ProviderResult } from '../../channels/email/provider.ts';
import type { ClaimedEmail } from '../../db/sending/email-ledger.ts';
import { createFailedOutcome, type RecordedOutcome } from '../../rules/emails/attempt-outcome.ts';
import { classifyRefusal, cutAfterReplyCodes, type Refusal } from '../../rules/emails/refusal.ts';
import { nextAttemptAt } from '../../rules/emails/retry-schedule.ts';
import { describeFailure } from '../../rules/failure-text.ts';

/** Classifies the provider's refusal of an email. Undefined if the provider did not refuse the email. */
export function getRefusal(result: ProviderResult): Refusal | undefined {
  return result.outcome === 'refused' ? classifyRefusal(result) : undefined;
}

/**
 * Returns the text about a provider's result that a log and Temporal may show: the provider's codes, or the error
 * message of our own client. The reply itself may contain the recipient's address, so it is stored only in the email's
 * row.
 */
export function describeResult(result: Exclude<ProviderResult, { outcome: 'accepted' }>): string {
  if (result.outcome !== 'refused') return describeFailure(new Error(cutAfterReplyCodes(result.error)));
  const { code, enhanced, type } = result;
  return [code, enhanced, type].filter(Boolean).join(' ');
}

/**
 * Decides that an email is attempted again later, or that it has failed because no attempt is left before `expiresAt`.
 */
export function deferOrExpire(
  { attempts }: Pick<ClaimedEmail, 'attempts'>,
  p: { error: string; status: string; route: string; expiresAt: Date },
): RecordedOutcome {
  const { error, status, route, expiresAt } = p;
  const dueAt = nextAttemptAt({ attempts, now: new Date(), expiresAt, random: Math.random() });
  return dueAt
    ? { kind: 'deferred', dueAt, error, last: { attempt: attempts, status, route } }
    : createFailedOutcome('expired', error);
}
