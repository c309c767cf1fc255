import type { RunContact } from '../executions/run.ts';
import type { HeaderMailbox } from '../mime/mime-headers.ts';

/**
 * Options of an email besides its content, stored in `emails.options`. The names are the ones in the request; attachments
 * are separate rows.
 */
export interface EmailOptions {
  /** Custom headers of the request. */
  headers?: Record<string, string>;
  /** The request's own text part, unchanged; otherwise it is derived from the HTML. */
  text?: string;
  /** Reply-To with names or with several mailboxes. A single address is part of the content. */
  replyTo?: HeaderMailbox[];
  /** The caller's own Message-ID, with angle brackets. */
  messageId?: string;
  /** Set if the email is one of several copies. */
  copies?: CopyOptions;
  /** Rows of `attachments`, in the request's order. */
  attachmentIds?: string[];
  /** Set if the first attachment is the whole message of an application, which is passed on unchanged. */
  original?: OriginalOptions;
  /** Names of untrusted variables: text only, never a link target or a header. */
  untrustedKeys?: string[];
  /** The id of the email that this one repeats. */
  resentFrom?: string;
  /** An untrusted caller caused the email, so its feedback lifts no refusal. */
  forStranger?: true;
  /**
   * Variables that only the recipient may read, as JSON sealed with the key for secrets at rest. The history does not
   * show them, and links are not counted, because counted links are stored.
   */
  sealed?: string;
  /**
   * Set if a sandbox run sends the email, so its events trigger nothing. `contact` is the contact with the run's
   * changes. A run that skips its pauses waits for no window.
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

/** Facts about a message that an application has composed and sent through the relay. */
export interface OriginalOptions {
  /** Its own Message-ID, with angle brackets. Null if it has no valid one. */
  messageId: string | null;
  /** Whether it has exactly one HTML part without a signature over it, so that opens and clicks can be counted. */
  html: boolean;
  /** The files in the message. */
  files: { filename: string; contentType: string; size: number }[];
}
