import type { ProviderResult } from '../../channels/email/provider.ts';
import type { ClaimedEmail } from '../../db/sending/email-ledger.ts';
import { windowGate } from '../../rules/campaigns/gate.ts';
import { failWith, type RecordedOutcome } from '../../rules/emails/attempt-outcome.ts';
import { cutAfterReplyCodes, judgeRefusal, type Refusal } from '../../rules/emails/refusal.ts';
import { nextAttemptAt } from '../../rules/emails/retry-schedule.ts';
import { describeFailure } from '../../rules/failure-text.ts';

/**
 * Returns when the project's sending window opens for an email that has to wait for it; undefined for other emails.
 * Only MARKETING of automations waits for the window: a request chose its own time, and campaigns decide for all
 * recipients.
 */
export function windowOpensAt({ sourceType, contentType, clock }: ClaimedEmail): Date | undefined {
  if (sourceType !== 'WORKFLOW' || contentType !== 'MARKETING' || !clock?.window) return undefined;
  const gate = windowGate(clock, Date.now());
  return gate.kind === 'closed' ? new Date(gate.notBeforeMs) : undefined;
}

/** Classifies a provider's refusal; undefined for another result. */
export function refusalOf(result: ProviderResult): Refusal | undefined {
  return result.outcome === 'refused' ? judgeRefusal(result) : undefined;
}

/**
 * Returns the part of a provider's result that a log and Temporal may show: its codes, or the message of our own
 * client. The reply itself may contain the recipient's address, so only the email's row has it.
 */
export function statusOf(result: Exclude<ProviderResult, { outcome: 'accepted' }>): string {
  if (result.outcome !== 'refused') return describeFailure(new Error(cutAfterReplyCodes(result.error)));
  const { code, enhanced, type } = result;
  return [code, enhanced, type].filter(Boolean).join(' ');
}

/** Defers an email, or marks it as failed after a day. */
export function defer(
  { attempts }: Pick<ClaimedEmail, 'attempts'>,
  p: { error: string; status: string; route: string; expiresAt: Date },
): RecordedOutcome {
  const { error, status, route, expiresAt } = p;
  const dueAt = nextAttemptAt({ attempts, now: new Date(), expiresAt, random: Math.random() });
  return dueAt
    ? { kind: 'deferred', dueAt, error, last: { attempt: attempts, status, route } }
    : failWith('expired', error);
}
