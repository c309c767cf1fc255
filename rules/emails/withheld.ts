import type { KeyMode } from '../access/api-keys.ts';
import { failWith, type RecordedOutcome } from './attempt-outcome.ts';
import { type SuppressionReason, suppressedBy } from './reasons.ts';

/** A mail that is about to leave, or that a preview asks about: what the decision looks at. */
export interface MailAtHand {
  to: object | null;
  suppressedBy: SuppressionReason | null;
  contentType: 'MARKETING' | 'TRANSACTIONAL';
  contact: { subscribed: boolean; pending?: boolean | undefined } | null;
  /** The contact has left the topic of the mail. */
  offTopic: boolean;
  /** The contact has had as much marketing as the project allows. */
  capped: boolean;
  senderDomain: object | null;
  project: { held: boolean };
  mode: KeyMode;
  sourceType: string;
}

/**
 * What a mail is withheld as, decided when it is about to leave: for good (erased contact, suppression, consent,
 * sender, frequency), or until a hold ends. Undefined lets it go. A test mail is never held: nothing of it reaches
 * anyone.
 * Source: contract §6.3, §9.8.
 */
export function withheldAs(email: MailAtHand): RecordedOutcome | undefined {
  if (!email.to) return failWith('contact_deleted');
  if (email.suppressedBy) return failWith(suppressedBy(email.suppressedBy));
  if (email.contentType === 'MARKETING' && !email.contact?.subscribed) {
    return failWith(email.contact?.pending ? 'unconfirmed' : 'unsubscribed');
  }
  if (email.contentType === 'MARKETING' && email.offTopic) return failWith('unsubscribed:topic');
  if (!email.senderDomain) return failWith('sender_not_verified');
  const held = email.project.held && email.mode === 'live' && isHoldable(email);
  if (held) return { kind: 'held' };
  return email.capped ? failWith('frequency_capped') : undefined;
}

/** Marketing and automation wait for the end of a hold; transactional mail goes on (contract §9.8). */
function isHoldable(email: MailAtHand): boolean {
  return email.sourceType !== 'TRANSACTIONAL' || email.contentType === 'MARKETING';
}
