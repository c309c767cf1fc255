import type { KeyMode } from '../access/api-keys.ts';
import type { KeyOwner } from '../access/key-owner.ts';
import type { EmailText } from '../content/email-text.ts';
import type { AppError, ErrorBody } from '../errors.ts';
import type { Data } from '../filters/data-values.ts';
import type { HeaderMailbox } from '../mime/mime-headers.ts';
import type { Sourced } from '../provenance/provenance.ts';
import type { EmailOptions, OriginalOptions } from './email-options.ts';

export interface Recipient {
  /** Trimmed, in lower case. */
  email: string;
  name: string | null;
  /** Set for a recipient who gets a copy of the email to the one recipient without a role. */
  role?: 'cc' | 'bcc';
}

export interface SendAttachment {
  filename: string;
  contentType: string;
  /** `alternative` is another form of the body, such as an invitation. */
  disposition: 'attachment' | 'inline' | 'alternative';
  contentId: string | null;
  content: Buffer;
}

/** A request to send that has passed all checks without the database. */
export interface SendRequest {
  projectId: string;
  mode: KeyMode;
  /** Monthly limit of the project. Null means no limit. */
  monthlyEmailLimit: number | null;
  idempotencyKey: string | undefined;
  /** Fingerprint of the request that uses the key. */
  fingerprint?: string | undefined;
  /** The sender of the request, for the refusal of an idempotency key. */
  owner: KeyOwner;
  /** Method and path, for the refusal of an idempotency key. */
  request: string;
  to: Recipient[];
  subject: string | undefined;
  body: string | undefined;
  /** The request's own text part; otherwise it is derived from the HTML. */
  text?: string;
  templateId: string | undefined;
  from: Recipient | undefined;
  /** One mailbox or several. With a template, replaces the template's own. */
  replyTo: HeaderMailbox[] | undefined;
  /** The caller's own Message-ID, with angle brackets. */
  messageId?: string | undefined;
  subscribed: boolean | undefined;
  /** Sorted by the rules for data values (`applyData`). */
  data: { set: Data; remove: string[]; oneOff: Sourced<Data> };
  headers: Record<string, string>;
  attachments: SendAttachment[];
  /** Set if the first attachment is a whole message, which is passed on unchanged. */
  original?: OriginalOptions;
  /** Set if an earlier email is sent again, with its original content even if its template has changed. */
  again?: SentBefore;
}

/** Fields that a resent email takes from the original, besides its recipient, variables and attachments. */
export interface SentBefore {
  content: EmailText & { type: 'TRANSACTIONAL' | 'MARKETING'; templateId: string | null; topicId: string | null };
  /** The id of the original email, and whether an untrusted caller caused it. */
  origin: Pick<EmailOptions, 'forStranger' | 'resentFrom' | 'copies' | 'replyTo' | 'messageId'>;
}

/**
 * Returns the change that a request makes to each contact. Requests that change one contact in different ways run one
 * after the other.
 */
export function contactChanges({ projectId, to, subscribed, data }: SendRequest): [contact: string, change: string][] {
  const change = JSON.stringify([subscribed, data.set, data.remove]);
  // A copy does not change the contact who gets it.
  return to.map(({ email, role }) => [`${projectId} contact ${email}`, role ? '' : change]);
}

/** Up to 100 different emails that are accepted in one transaction. Source: contract §9.19 Batch. */
export interface SendBatch {
  projectId: string;
  idempotencyKey: string | undefined;
  fingerprint: string | undefined;
  owner: KeyOwner;
  request: string;
  /** All are accepted, or none. */
  atomic: boolean;
  /** In order. An invalid email is represented by its error. */
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
    /** Copies that were not sent, with the reason. Present only if there are any. */
    skipped?: { email: string; reason: 'suppressed' | 'unsubscribed' }[];
    timestamp: string;
  };
}
