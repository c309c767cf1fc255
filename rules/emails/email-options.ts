import type { RunContact } from '../executions/run.ts';
import type { Mailbox } from '../mime/mime-headers.ts';

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
