import type { RunContact } from '../executions/run.ts';
import type { HeaderMailbox } from '../mime/mime-headers.ts';

/**
 * Options of an email besides its content, stored in `emails.options`. Names are the request's; attachments are rows of
 * their own.
 */
export interface EmailOptions {
  /** Custom headers of the request. */
  headers?: Record<string, string>;
  /** The request's own text part, as it is; otherwise it is made from the HTML. */
  text?: string;
  /** Reply-To with names or with several mailboxes. A single address is part of the content. */
  replyTo?: HeaderMailbox[];
  /** The caller's own Message-ID, with angle brackets. */
  messageId?: string;
  /** It is one of several copies. */
  copies?: CopyOptions;
  /** Rows of `attachments`, in the request's order. */
  attachmentIds?: string[];
  /** The first of the attachments is the whole message of an application, which is passed on as it is. */
  original?: OriginalOptions;
  /** Names of untrusted variables: text only, never a link target or a header. */
  untrustedKeys?: string[];
  /** The mail that this one repeats. */
  resentFrom?: string;
  /** An untrusted caller caused the email, so its feedback lifts no refusal. */
  forStranger?: true;
  /**
   * Variables that only the recipient may read, as JSON sealed with the key of secrets at rest. The history shows
   * none of them, and links are not counted, because counted links are stored.
   */
  sealed?: string;
  /**
   * A run that only tries a workflow out sends it: it brings about nothing, and `contact` is what that run has made of
   * the contact; one that skips its pauses waits for no window.
   */
  sandbox?: { contact: RunContact | null; skipDelays?: boolean };
}

/**
 * The emails of `to` and `cc` whose recipients all copies show, by id. Their addresses are stored only in their own
 * records, where the erasure of a contact finds them. Source: RFC 5322 §3.6.3.
 */
export interface CopyOptions {
  role: 'to' | 'cc' | 'bcc';
  to: string;
  cc: string[];
}

/** Facts about a message that an application has composed and handed to the relay. */
export interface OriginalOptions {
  /** Its own Message-ID, with angle brackets. Null if it has no valid one. */
  messageId: string | null;
  /** It has one HTML part that no signature covers: opens and clicks can be counted. */
  html: boolean;
  /** The files that it carries. */
  files: { filename: string; contentType: string; size: number }[];
}
