import type { RunContact } from '../executions/run.ts';
import type { HeaderMailbox } from '../mime/mime-headers.ts';

/**
 * The options of an email besides its content, stored in `emails.options`. Most names are the same as in the request.
 * Attachments are separate rows.
 */
export interface EmailOptions {
  /** Custom headers of the request. */
  headers?: Record<string, string>;
  /** The text part of the request, unchanged. Without it, the text part is derived from the HTML. */
  text?: string;
  /** Reply-To, if it has names or several mailboxes. A single address is stored in the content. */
  replyTo?: HeaderMailbox[];
  /** The Message-ID that the caller set, with angle brackets. */
  messageId?: string;
  /** Set if one request sends the email to several recipients, so each recipient has a copy as a separate email. */
  copies?: CopyOptions;
  /** Set on a copy whose text was erased together with the contact of the original email. */
  erased?: true;
  /** The ids of rows in `attachments`, in the order of the request. */
  attachmentIds?: string[];
  /**
   * Set if the first attachment is a whole message that an application composed. The service sends that message without
   * changing its content.
   */
  original?: OriginalOptions;
  /**
   * The names of untrusted variables. Untrusted values are rendered only as text, never in the target of a link or in a
   * header.
   */
  untrustedKeys?: string[];
  /** The id of the earlier email, if this email is a repetition (`POST /v1/emails/{id}/resend`). */
  resentFrom?: string;
  /** Set if an untrusted caller caused the email. Feedback about the email then cannot lift a refusal. */
  forStranger?: true;
  /**
   * Variables that only the recipient may read, as JSON sealed with the key for secrets at rest. Responses do not show
   * the values of these variables. Clicks are not tracked, because the service stores a tracked link together with the
   * values in it.
   */
  sealed?: string;
  /**
   * Set if a sandbox sends the email, so that its events trigger no workflow. `contact` is the contact with the changes
   * of the sandbox. If `skipDelays` is true, the sandbox does not wait for a sending window.
   */
  sandbox?: { contact: RunContact | null; skipDelays?: boolean };
}

/**
 * The role of a copy, and the ids of the emails whose addresses all copies show in To and Cc. Each address is stored
 * only in its own email, where the erasure of a contact finds it. Source: RFC 5322 §3.6.3.
 */
export interface CopyOptions {
  role: 'to' | 'cc' | 'bcc';
  to: string;
  cc: string[];
}

/** Facts about a message that an application has composed and submitted to the SMTP relay. */
export interface OriginalOptions {
  /** The Message-ID of the message, with angle brackets. Null if the message has no valid Message-ID. */
  messageId: string | null;
  /** True if opens and clicks can be tracked: the message has exactly one HTML part, and no signature covers it. */
  html: boolean;
  /** The files in the message. */
  files: { filename: string; contentType: string; size: number }[];
}
