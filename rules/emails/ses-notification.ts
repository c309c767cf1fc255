import { z } from 'zod';
import type { Feedback } from './email-feedback.ts';
import { classifyRefusal, parseDiagnostic, type Refusal } from './refusal.ts';

/** The name of the SES tag that contains the id of an email. */
export const SES_EMAIL_TAG = 'email_id';

/** The subtype of bounces and complaints if the address is on the suppression list of the SES account. */
const ON_SES_LIST = 'OnAccountSuppressionList';
const NOT_SENT_BY_SES: Refusal = { about: 'us', why: 'account', retry: false };

const Recipient = z.object({
  emailAddress: z.string().optional(),
  status: z.string().optional(),
  diagnosticCode: z.string().optional(),
});

/**
 * A feedback notification has its type in `notificationType`, and a published event in `eventType`. All other fields
 * are the same.
 */
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
  /**
   * The Message-ID that this service wrote; SES replaces it afterwards. Undefined if the notification does not include
   * headers.
   */
  messageId: string | undefined;
  /** The envelope sender if the email was sent by SMTP, else the address in From. */
  source: string | undefined;
  /** The email's id from the tag `email_id`. Published events have the tag, but notifications of an identity do not. */
  taggedId: string | undefined;
  /** The id that SendEmail returned; every notification has it. */
  sesMessageId: string | undefined;
  /** When SES accepted the email. */
  acceptedAt: Date | undefined;
  feedback: Feedback;
}

/**
 * Reads the message of an SNS notification. Undefined if it contains nothing that the service records. Source: SES
 * Developer Guide, notification contents.
 */
export function readSesNotification(text: string, now: Date): SesNotification | undefined {
  const parsed = Notification.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const { mail } = parsed.data;
  const feedback = toFeedback(parsed.data, now);
  if (!feedback) return undefined;
  const header = mail.headers?.find(({ name }) => name.toLowerCase() === 'message-id')?.value;
  const taggedId = mail.tags?.[SES_EMAIL_TAG][0];
  return {
    messageId: header ?? mail.commonHeaders?.messageId,
    source: mail.source,
    taggedId,
    sesMessageId: mail.messageId,
    acceptedAt: mail.timestamp === undefined ? undefined : toInstant(mail.timestamp),
    feedback,
  };
}

function toFeedback(data: z.output<typeof Notification>, now: Date): Feedback | undefined {
  const type = data.notificationType ?? data.eventType;
  if (type === 'Delivery' && data.delivery) return { kind: 'delivery', at: toInstant(data.delivery.timestamp) ?? now };
  if (type === 'Complaint' && data.complaint) {
    const at = toInstant(data.complaint.timestamp) ?? now;
    if (data.complaint.complaintFeedbackType === 'not-spam') return undefined;
    // SES did not send this email, because of a complaint about an earlier email, perhaps from another project.
    if (data.complaint.complaintSubType === ON_SES_LIST)
      return { kind: 'bounce', at, refusal: NOT_SENT_BY_SES, words: `Complaint ${ON_SES_LIST}` };
    return { kind: 'complaint', at };
  }
  if (type !== 'Bounce' || !data.bounce) return undefined;
  const { bounceType, bounceSubType = '', timestamp, bouncedRecipients } = data.bounce;
  const [recipient] = bouncedRecipients;
  const words = recipient?.diagnosticCode ?? `${bounceType} ${bounceSubType}`.trim();
  const refusal = toRefusal({ bounceType, bounceSubType, ...recipient });
  return { kind: 'bounce', at: toInstant(timestamp) ?? now, refusal, words };
}

interface SesBounce {
  bounceType: string;
  bounceSubType: string;
  status?: string | undefined;
  diagnosticCode?: string | undefined;
}

/**
 * Classifies a bounce by the receiving server's reply, with the same rules as other refusals. If SES has no reply, or
 * the reply is unclear, the classification by SES counts. If the address is on the suppression list of the SES account,
 * SES did not contact the receiving server. A bounce that SES caused in this way proves nothing about the mailbox,
 * because the list also contains addresses after complaints.
 */
function toRefusal(bounce: SesBounce): Refusal {
  const { bounceSubType, status, diagnosticCode } = bounce;
  if (bounceSubType === ON_SES_LIST) return NOT_SENT_BY_SES;
  const diagnostic = parseDiagnostic(diagnosticCode ?? '');
  const refusal = classifyRefusal({ ...diagnostic, enhanced: diagnostic.enhanced ?? status ?? null, stage: 'dsn' });
  const isSilent = diagnosticCode === undefined && status === undefined;
  const isUnclear = refusal.about === 'recipient' && refusal.why === 'unknown';
  return isSilent || isUnclear
    ? classifyRefusal({ code: null, ...toEnhancedCode(bounce, isSilent), stage: 'dsn' })
    : refusal;
}

/**
 * Returns an enhanced code for the classification by SES. The subtype `General` means that SES did not understand the
 * reply either, so a permanent bounce with this subtype counts only if there is no reply.
 */
function toEnhancedCode(
  { bounceType, bounceSubType }: SesBounce,
  isSilent: boolean,
): { enhanced: string | null; text: string } {
  if (/^(MessageTooLarge|ContentRejected|AttachmentRejected)$/.test(bounceSubType))
    return { enhanced: '5.3.4', text: '' };
  if (bounceType === 'Permanent' && (isSilent || bounceSubType === 'NoEmail')) return { enhanced: '5.1.1', text: '' };
  if (bounceType === 'Transient') return { enhanced: '4.2.0', text: '' };
  return { enhanced: null, text: '' };
}

function toInstant(text: string): Date | undefined {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
