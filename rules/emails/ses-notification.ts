import { z } from 'zod';
import type { Feedback } from './email-feedback.ts';
import { judgeRefusal, parseDiagnostic, type Refusal } from './refusal.ts';

/** The tag of an email with its id. */
export const SES_EMAIL_TAG = 'email_id';

/** Subtype of bounces and complaints about an address on the suppression list of the SES account. */
const ON_SES_LIST = 'OnAccountSuppressionList';
const NOT_SENT_BY_SES: Refusal = { about: 'us', why: 'account', retry: false };

const Recipient = z.object({
  emailAddress: z.string().optional(),
  status: z.string().optional(),
  diagnosticCode: z.string().optional(),
});

/** Feedback notifications name their type `notificationType`, published events `eventType`; the rest is the same. */
const Notification = z.object({
  notificationType: z.string().optional(),
  eventType: z.string().optional(),
  mail: z.object({
    messageId: z.string().optional(),
    timestamp: z.string().optional(),
    source: z.string().optional(),
    headers: z.array(z.object({ name: z.string(), value: z.string() })).optional(),
    commonHeaders: z.object({ messageId: z.string().optional() }).optional(),
    tags: z
      .object({ [SES_EMAIL_TAG]: z.tuple([z.uuid()]) })
      .optional()
      .catch(undefined),
  }),
  delivery: z.object({ timestamp: z.string() }).optional(),
  bounce: z
    .object({
      bounceType: z.string(),
      bounceSubType: z.string().optional(),
      timestamp: z.string(),
      bouncedRecipients: z.array(Recipient).default([]),
    })
    .optional(),
  complaint: z
    .object({
      timestamp: z.string(),
      complaintFeedbackType: z.string().nullish(),
      complaintSubType: z.string().nullish(),
    })
    .optional(),
});

export interface SesNotification {
  /** Our Message-ID of the email, which SES replaces later. Present only if headers are included. */
  messageId: string | undefined;
  /** The envelope sender if the email was sent by SMTP, else the sender address. */
  source: string | undefined;
  /** The id in our tag of the email. Published events have it, notifications of an identity do not. */
  taggedId: string | undefined;
  /** The id that SendEmail returned; every notification has it. */
  sesMessageId: string | undefined;
  /** When SES accepted the email. */
  takenAt: Date | undefined;
  feedback: Feedback;
}

/**
 * Reads the message of an SNS notification; undefined if it has nothing that we record. Source: SES Developer Guide,
 * notification contents.
 */
export function readSesNotification(text: string, now: Date): SesNotification | undefined {
  const parsed = Notification.safeParse(jsonOf(text));
  if (!parsed.success) return undefined;
  const { mail } = parsed.data;
  const feedback = feedbackOf(parsed.data, now);
  if (!feedback) return undefined;
  const header = mail.headers?.find(({ name }) => name.toLowerCase() === 'message-id')?.value;
  const taggedId = mail.tags?.[SES_EMAIL_TAG][0];
  return {
    messageId: header ?? mail.commonHeaders?.messageId,
    source: mail.source,
    taggedId,
    sesMessageId: mail.messageId,
    takenAt: mail.timestamp === undefined ? undefined : instant(mail.timestamp),
    feedback,
  };
}

function feedbackOf(data: z.output<typeof Notification>, now: Date): Feedback | undefined {
  const type = data.notificationType ?? data.eventType;
  if (type === 'Delivery' && data.delivery) return { kind: 'delivery', at: instant(data.delivery.timestamp) ?? now };
  if (type === 'Complaint' && data.complaint) {
    const at = instant(data.complaint.timestamp) ?? now;
    if (data.complaint.complaintFeedbackType === 'not-spam') return undefined;
    // SES did not send this email, because of a complaint about an earlier one, perhaps of another project.
    if (data.complaint.complaintSubType === ON_SES_LIST)
      return { kind: 'bounce', at, refusal: NOT_SENT_BY_SES, words: `Complaint ${ON_SES_LIST}` };
    return { kind: 'complaint', at };
  }
  if (type !== 'Bounce' || !data.bounce) return undefined;
  const { bounceType, bounceSubType = '', timestamp, bouncedRecipients } = data.bounce;
  const [recipient] = bouncedRecipients;
  const words = recipient?.diagnosticCode ?? `${bounceType} ${bounceSubType}`.trim();
  const refusal = refusalOf({ bounceType, bounceSubType, ...recipient });
  return { kind: 'bounce', at: instant(timestamp) ?? now, refusal, words };
}

interface SesBounce {
  bounceType: string;
  bounceSubType: string;
  status?: string | undefined;
  diagnosticCode?: string | undefined;
}

/**
 * Classifies a bounce by the receiving server's reply, as everywhere. If SES has no reply, or the reply is unclear,
 * SES's own classification counts. SES did not contact the receiving server for an address on the account's
 * suppression list, which includes complaints, so that proves nothing about the mailbox.
 */
function refusalOf(bounce: SesBounce): Refusal {
  const { bounceSubType, status, diagnosticCode } = bounce;
  if (bounceSubType === ON_SES_LIST) return NOT_SENT_BY_SES;
  const diagnostic = parseDiagnostic(diagnosticCode ?? '');
  const judged = judgeRefusal({ ...diagnostic, enhanced: diagnostic.enhanced ?? status ?? null, stage: 'dsn' });
  const isSilent = diagnosticCode === undefined && status === undefined;
  const isUnclear = judged.about === 'recipient' && judged.why === 'unknown';
  return isSilent || isUnclear ? judgeRefusal({ code: null, ...ownWords(bounce, isSilent), stage: 'dsn' }) : judged;
}

/**
 * Returns SES's own classification. SES did not understand a `General` bounce either, so it counts only if nothing else
 * is known.
 */
function ownWords(
  { bounceType, bounceSubType }: SesBounce,
  isSilent: boolean,
): { enhanced: string | null; text: string } {
  if (/^(MessageTooLarge|ContentRejected|AttachmentRejected)$/.test(bounceSubType))
    return { enhanced: '5.3.4', text: '' };
  if (bounceType === 'Permanent' && (isSilent || bounceSubType === 'NoEmail')) return { enhanced: '5.1.1', text: '' };
  if (bounceType === 'Transient') return { enhanced: '4.2.0', text: '' };
  return { enhanced: null, text: '' };
}

function instant(text: string): Date | undefined {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
