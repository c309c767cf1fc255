import type { RunContact } from '../executions/run.ts';
import type { Mailbox } from '../mime/mime-headers.ts';
import type { LastAttempt } from './last-attempt.ts';
import { bouncedAs, type Reason } from './reasons.ts';
import type { AboutRecipient, Refusal } from './refusal.ts';

/**
 * What an email carries besides its content; in `emails.options`. Names are the request's, attachments are rows of
 * their own.
 */
export interface EmailOptions {
  /** Custom headers of the request. */
  headers?: Record<string, string>;
  /** The request's own text part, as it is; otherwise it is made from the HTML. */
  text?: string;
  /** Reply-To with names or of several mailboxes; one address alone stands in the content. */
  replyTo?: Mailbox[];
  /** The caller's own Message-ID, with angle brackets. */
  messageId?: string;
  /** It is one of several copies. */
  copies?: CopyOptions;
  /** Rows of `attachments`, in the request's order. */
  attachmentIds?: string[];
  /** The first of the attachments is the whole message of an application, which is passed on as it is. */
  original?: OriginalOptions;
  /** Names of variables that a stranger brought: text only, never a link target or a header. */
  untrustedKeys?: string[];
  /** The mail that this one repeats. */
  resentFrom?: string;
  /** A stranger had it sent: what follows from it lifts nobody's refusal. */
  forStranger?: true;
  /**
   * Variables that only the recipient may read, as JSON under the key of secrets at rest: whoever looks at the mail in
   * the history sees none of them, and its links are not counted, for what is counted is kept.
   */
  sealed?: string;
  /**
   * A run that only tries a workflow out sends it: it brings about nothing, and `contact` is what that run has made of
   * the contact; one that skips its pauses waits for no window.
   */
  sandbox?: { contact: RunContact | null; skipDelays?: boolean };
}

/**
 * The emails of `to` and `cc` whose recipients all copies show, by id: their addresses stand in their own records only,
 * where the erasure of a contact finds them. Source: RFC 5322 §3.6.3.
 */
export interface CopyOptions {
  role: 'to' | 'cc' | 'bcc';
  to: string;
  cc: string[];
}

/** Facts about a message that an application has composed and handed to the relay. */
export interface OriginalOptions {
  /** Its own Message-ID, with angle brackets; null where it has none that is valid. */
  messageId: string | null;
  /** It has one HTML part that no signature covers: opens and clicks can be counted. */
  html: boolean;
  /** The files that it carries. */
  files: { filename: string; contentType: string; size: number }[];
}

/** What became of one attempt to send an email. All but `later` are final for this delivery. */
export type EmailOutcome =
  | { kind: 'sent'; providerMessageId: string | null; subject: string }
  /**
   * Not sent, and it will not be: our own decision, a refusal about us or the message, or too many attempts. Where the
   * receiving side does not want the sender, `refusesSender` is set, and `provider` runs the mailbox.
   */
  | { kind: 'failed'; reason: Reason; error: string | null; refusesSender?: true; provider?: string }
  /** The receiving side refused the recipient permanently. Nothing else touches a contact. */
  | { kind: 'bounced'; refusal: AboutRecipient; error: string }
  /** The project's sending is on hold: it leaves when the hold is released. */
  | { kind: 'held' }
  /**
   * Refused for now: try again at `dueAt`. The row stays SENDING and keeps its delivery. `error` has the provider's
   * reply, `last` only its codes: Temporal shows `last`.
   */
  | { kind: 'later'; dueAt: Date; error: string; last: LastAttempt };

export function failed(reason: Reason, error: string | null = null): EmailOutcome {
  return { kind: 'failed', reason, error };
}

/** Ends an email by a refusal that is not tried again. */
export function refused(refusal: Refusal, error: string): EmailOutcome {
  if (refusal.about === 'recipient') return { kind: 'bounced', refusal, error };
  const outcome = { kind: 'failed' as const, reason: reasonOfRefusal(refusal), error };
  return refusesSender(refusal) ? { ...outcome, refusesSender: true } : outcome;
}

/** Says why an email that was refused so did not arrive. */
export function reasonOfRefusal(refusal: Refusal): Reason {
  return refusal.about === 'recipient' ? bouncedAs(refusal.why) : 'provider_rejected';
}

/** Tells whether a receiver does not want the sender, which counts towards the hold of its project. */
export function refusesSender(refusal: Refusal): boolean {
  return refusal.about === 'us' && refusal.why === 'policy';
}
