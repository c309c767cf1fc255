import type { KeyMode } from '../access/api-keys.ts';
import type { KeyOwner } from '../access/key-owner.ts';
import type { MailText } from '../content/mail-text.ts';
import type { AppError, ErrorBody } from '../errors.ts';
import type { Data } from '../filters/data-values.ts';
import type { HeaderMailbox } from '../mime/mime-headers.ts';
import type { Sourced } from '../provenance/provenance.ts';
import type { EmailOptions, OriginalOptions } from './email-options.ts';

export interface Recipient {
  /** Trimmed, in lower case. */
  email: string;
  name: string | null;
  /** Gets a copy of the email of the one recipient without a role. */
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

/** A request to send, checked as far as it can be without the database. */
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
  /** Method and path, as an idempotency refusal tells it. */
  request: string;
  to: Recipient[];
  subject: string | undefined;
  body: string | undefined;
  /** A text part of its own; otherwise it is made from the HTML. */
  text?: string;
  templateId: string | undefined;
  from: Recipient | undefined;
  /** One mailbox or several. With a template, replaces the template's own. */
  replyTo: HeaderMailbox[] | undefined;
  /** The caller's own, with angle brackets. */
  messageId?: string | undefined;
  subscribed: boolean | undefined;
  /** By the data value rules (`applyData`). */
  data: { set: Data; remove: string[]; oneOff: Sourced<Data> };
  headers: Record<string, string>;
  attachments: SendAttachment[];
  /** The first attachment is a whole message, to be passed on as it is. */
  original?: OriginalOptions;
  /** A mail of before that is sent again: it says the same, whatever its template says by now. */
  again?: SentBefore;
}

/** Fields that a resent email takes from the original, besides its recipient, variables and attachments. */
export interface SentBefore {
  content: MailText & { type: 'TRANSACTIONAL' | 'MARKETING'; templateId: string | null; topicId: string | null };
  /** Which email it was, and whether an untrusted caller caused it. */
  origin: Pick<EmailOptions, 'forStranger' | 'resentFrom' | 'copies' | 'replyTo' | 'messageId'>;
}

/** The change that a request makes to each contact. Requests that change one in two ways go one after the other. */
export function contactChanges({ projectId, to, subscribed, data }: SendRequest): [contact: string, change: string][] {
  const change = JSON.stringify([subscribed, data.set, data.remove]);
  // A copy changes nothing of who gets it.
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

/** The answer of `POST /v1/send/batch`: a result for each email in order, as `POST /v1/send` would answer. */
export interface BatchResponse {
  success: true;
  data: { results: BatchResult[]; accepted: number; refused: number; timestamp: string };
}
export type BatchResult = { success: true; data: SendResponse['data'] } | { success: false; error: ErrorBody };

/** The answer of `POST /v1/send`, as it is kept with an idempotency key too. */
export interface SendResponse {
  success: true;
  data: {
    emails: { contact: { id: string; email: string }; email: string; role?: 'cc' | 'bcc' }[];
    /** Copies that were not sent, with the reason. Present only if there are any. */
    skipped?: { email: string; reason: 'suppressed' | 'unsubscribed' }[];
    timestamp: string;
  };
}
