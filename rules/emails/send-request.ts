import type { KeyMode } from '../access/api-keys.ts';
import type { IdempotencyKeyOwner } from '../access/idempotency-key-owner.ts';
import type { EmailText } from '../content/email-text.ts';
import type { AppError, ErrorBody } from '../errors.ts';
import type { Data } from '../filters/data-values.ts';
import type { HeaderMailbox } from '../mime/mime-headers.ts';
import type { Sourced } from '../provenance/provenance.ts';
import type { EmailOptions, OriginalOptions } from './email-options.ts';

export interface Recipient {
  /** The address, normalized. */
  email: string;
  name: string | null;
  /** Set if the recipient gets a copy. The email then has exactly one recipient without a role. */
  role?: 'cc' | 'bcc';
}

export interface SendAttachment {
  filename: string;
  contentType: string;
  /** `alternative` is another form of the body, such as a calendar invitation. */
  disposition: 'attachment' | 'inline' | 'alternative';
  contentId: string | null;
  content: Buffer;
}

/** A request to send that has passed all checks that need no database. */
export interface SendRequest {
  projectId: string;
  mode: KeyMode;
  /** The project's monthly limit of emails. Null means no limit. */
  monthlyEmailLimit: number | null;
  idempotencyKey: string | undefined;
  /** The fingerprint of the request (`fingerprintRequest`), to recognize a repetition with the same idempotency key. */
  fingerprint?: string | undefined;
  /** The caller of the request. If the idempotency key was used before, the refusal depends on the caller. */
  owner: IdempotencyKeyOwner;
  /** The method and path of the request. If the idempotency key was used before, the refusal depends on them. */
  request: string;
  to: Recipient[];
  subject: string | undefined;
  body: string | undefined;
  /** The text part of the request. If it is absent, the text part is derived from the HTML. */
  text?: string;
  templateId: string | undefined;
  from: Recipient | undefined;
  /** One or more mailboxes, which replace the Reply-To of the template. */
  replyTo: HeaderMailbox[] | undefined;
  /** The Message-ID that the caller set, with angle brackets. */
  messageId?: string | undefined;
  subscribed: boolean | undefined;
  /** The result of `parseDataChanges` for the request's data. */
  data: { set: Data; remove: string[]; oneOff: Sourced<Data> };
  headers: Record<string, string>;
  attachments: SendAttachment[];
  /** Set if the first attachment is a whole message, whose content is sent unchanged. */
  original?: OriginalOptions;
  /**
   * Set if the request resends an earlier email. A resent email keeps its original content, even if its template has
   * changed.
   */
  again?: SentBefore;
}

/** The fields that a resent email copies from the original email, besides its recipient, variables and attachments. */
export interface SentBefore {
  content: EmailText & { type: 'TRANSACTIONAL' | 'MARKETING'; templateId: string | null; topicId: string | null };
  /** Options of the original email, including its id (`resentFrom`) and whether an untrusted caller caused it. */
  origin: Pick<EmailOptions, 'forStranger' | 'resentFrom' | 'copies' | 'replyTo' | 'messageId'>;
}

/**
 * Returns two strings for each recipient: one for the contact, and one for the change that the request makes to the
 * contact. Requests that change the same contact in different ways must not run concurrently.
 */
export function listContactChanges({
  projectId,
  to,
  subscribed,
  data,
}: SendRequest): [contact: string, change: string][] {
  const change = JSON.stringify([subscribed, data.set, data.remove]);
  // A copy does not change the contact who gets it.
  return to.map(({ email, role }) => [`${projectId} contact ${email}`, role ? '' : change]);
}

/** Up to 100 different emails that are accepted in one transaction. Source: contract §9.19 Batch. */
export interface SendBatch {
  projectId: string;
  idempotencyKey: string | undefined;
  fingerprint: string | undefined;
  owner: IdempotencyKeyOwner;
  request: string;
  /** True if either all emails are accepted, or none. */
  atomic: boolean;
  /** The emails, in the order of the request. An invalid email is replaced by its error. */
  emails: (SendRequest | AppError)[];
}

/** The response of `POST /v1/send/batch`: a result for each email in order, in the form of `POST /v1/send`. */
export interface BatchResponse {
  success: true;
  data: { results: BatchResult[]; accepted: number; refused: number; timestamp: string };
}
export type BatchResult = { success: true; data: SendResponse['data'] } | { success: false; error: ErrorBody };

/** The response of `POST /v1/send`, also stored with an idempotency key. */
export interface SendResponse {
  success: true;
  data: {
    emails: { contact: { id: string; email: string }; email: string; role?: 'cc' | 'bcc' }[];
    /** The copies that were not sent, with the reason. Absent if all copies were sent. */
    skipped?: { email: string; reason: 'suppressed' | 'unsubscribed' }[];
    timestamp: string;
  };
}
