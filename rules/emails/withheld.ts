import type { KeyMode } from '../access/api-keys.ts';
import { createFailedOutcome, type RecordedOutcome } from './attempt-outcome.ts';
import { type SuppressionReason, toSuppressedReason } from './reasons.ts';

/** Facts about an email that is about to be sent, or about the email of a preview. */
export interface EmailAtHand {
  to: object | null;
  suppressedBy: SuppressionReason | null;
  contentType: 'MARKETING' | 'TRANSACTIONAL';
  contact: { subscribed: boolean; pending?: boolean | undefined } | null;
  /** True if the contact has left the topic of the email. */
  offTopic: boolean;
  /** True if the contact has reached the project's frequency cap. */
  capped: boolean;
  senderDomain: object | null;
  project: { held: boolean };
  mode: KeyMode;
  sourceType: string;
}

/**
 * Decides, just before an email is sent, whether to withhold it and why: permanently (erased contact, suppression,
 * consent, sender, frequency), or until a hold ends. Undefined means that the email is sent. A test email is never
 * held, because it reaches no one. Source: contract §6.3, §9.8.
 */
export function decideWithholding(email: EmailAtHand): RecordedOutcome | undefined {
  if (!email.to) return createFailedOutcome('contact_deleted');
  if (email.suppressedBy) return createFailedOutcome(toSuppressedReason(email.suppressedBy));
  if (email.contentType === 'MARKETING' && !email.contact?.subscribed) {
    return createFailedOutcome(email.contact?.pending ? 'unconfirmed' : 'unsubscribed');
  }
  if (email.contentType === 'MARKETING' && email.offTopic) return createFailedOutcome('unsubscribed:topic');
  if (!email.senderDomain) return createFailedOutcome('sender_not_verified');
  const held = email.project.held && email.mode === 'live' && isHoldable(email);
  if (held) return { kind: 'held' };
  return email.capped ? createFailedOutcome('frequency_capped') : undefined;
}

/**
 * Tells whether a hold stops the email: marketing and automation email waits, transactional email is sent (contract
 * §9.8 Hold).
 */
function isHoldable(email: EmailAtHand): boolean {
  return email.sourceType !== 'TRANSACTIONAL' || email.contentType === 'MARKETING';
}
