import { z } from '@hono/zod-openapi';
import { isBase64 } from '../../../rules/base64.ts';
import type { Recipient } from '../../../rules/emails/send-request.ts';
import { findHeaderError } from '../../../rules/emails/service-headers.ts';
import { AppError } from '../../../rules/errors.ts';
import { listRepeatedHeaders, REPEATED_HEADER } from '../../../rules/header-names.ts';
import { markAsAlias } from '../../http/aliases.ts';
import { JSON_MAX_BYTES } from '../../http/body.ts';
import { DisplayName, HEADER_LINE_MAX_CHARS, MailboxInput, oneLineText } from '../../http/schemas.ts';

/** Limits of a send request. Source: contract §1.11 Limits and §9.11. */
const HEADERS_MAX = 50;
const ATTACHMENTS_MAX = 10;
const RECIPIENTS_MAX = 1000;
/** Maximum number of addresses in `cc` and `bcc` together. */
const COPIES_MAX = 50;
const REPLIES_MAX = 10;
const MB = 1024 * 1024;

/**
 * Returns the maximum size of a body: the attachments in base64, plus the general maximum for everything else. For
 * example, the maximum is 16 MB if attachments may have 10 MB.
 */
export function computeSendMaxBytes(attachmentsMaxBytes: number): number {
  return Math.floor(((attachmentsMaxBytes / 3) * 4 + JSON_MAX_BYTES) / MB) * MB;
}

/**
 * Refuses more attachments than an email may have. Source: contract §9.11 Headers and attachments.
 * @throws AppError VALIDATION_ERROR for too many attachments, PAYLOAD_TOO_LARGE if they are too large together
 */
export function checkAttachments(files: readonly { content: Buffer }[], maxBytes: number): void {
  if (files.length > ATTACHMENTS_MAX)
    throw new AppError('VALIDATION_ERROR', {
      message: `The email has ${files.length} attachments: at most ${ATTACHMENTS_MAX} attachments are allowed.`,
    });
  const bytes = files.reduce((sum, { content }) => sum + content.byteLength, 0);
  if (bytes <= maxBytes) return;
  throw new AppError('PAYLOAD_TOO_LARGE', {
    message: `The attachments together are larger than ${maxBytes / MB} MB.`,
    details: { bytes, maxBytes },
  });
}

/**
 * Matches MIME types that an alternative may not have. The service creates parts of the first types from `body`, and
 * the other types contain further parts.
 */
const SERVICE_TYPES = /^(?:text\/(?:plain|html)|multipart\/|message\/)/i;

/**
 * Matches the content ids that a header field can contain. A mail server accepts other characters only with SMTPUTF8,
 * and an encoded word inside the angle brackets would be a part of the id (RFC 2047 §5).
 */
const CONTENT_ID = /^[!#-;=?-~]+$/;

const Attachment = z
  .object({
    filename: z
      .string()
      .min(1)
      .max(255)
      .regex(/^[^\r\n"]*$/, 'Must not contain line breaks or quotes'),
    content: z
      .string()
      .min(1)
      .refine(isBase64, { error: 'Must be base64', params: { code: 'invalid_string' } })
      .openapi({ format: 'byte' }),
    contentType: z
      .string()
      .max(255)
      .regex(/^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(\s*;[^\r\n]*)?$/, 'Must be a MIME type such as application/pdf'),
    contentId: z
      .string()
      .min(1)
      .max(255)
      .regex(
        CONTENT_ID,
        'Must contain only ASCII characters without spaces, quotes and angle brackets. Use another id, here and after `cid:` in the body',
      )
      .optional(),
    disposition: z.enum(['attachment', 'inline']).default('attachment'),
    alternative: z.boolean().optional().openapi({
      description: 'Adds the file as another form of the body, such as an invitation: `text/calendar; method=REQUEST`',
    }),
  })
  .superRefine((file, ctx) => {
    if (file.alternative && SERVICE_TYPES.test(file.contentType)) {
      const message =
        'An alternative must not be text/plain, text/html, multipart or message, because every email already has a text and an HTML part';
      ctx.addIssue({ code: 'custom', path: ['contentType'], message });
    }
    if (file.alternative && (file.disposition === 'inline' || file.contentId !== undefined)) {
      const message =
        'An alternative is a form of the body and not a separate file. Omit `disposition` and `contentId`';
      ctx.addIssue({ code: 'custom', path: ['alternative'], message });
      return;
    }
    if (file.disposition !== 'inline' || file.contentId !== undefined) return;
    const message = 'Required for an inline attachment, because the body refers to it as cid:<contentId>';
    ctx.addIssue({ code: 'custom', path: ['contentId'], message, params: { code: 'invalid_type' } });
  });

/** Refuses two files with one content id, because `cid:` in the body could show either. */
function checkContentIds(files: readonly { contentId?: string | undefined }[], ctx: z.RefinementCtx): void {
  const contentIds = new Set<string>();
  for (const [n, { contentId }] of files.entries()) {
    if (contentId === undefined) continue;
    if (contentIds.has(contentId)) {
      const message = 'Must differ from the `contentId` of the other attachments';
      ctx.addIssue({ code: 'custom', path: [n, 'contentId'], message });
    }
    contentIds.add(contentId);
  }
}

const EXAMPLE = {
  to: { name: 'Ada', email: 'ada@example.com' },
  from: { name: 'Web shop', email: 'hello@shop.example.com' },
  subject: 'Your order {{orderNo}}',
  body: '<p>Hello {{name}}, thank you for order {{orderNo}}.</p>',
  data: { name: 'Ada', orderNo: { value: 4711, persistent: false } },
};

/** Returns a schema for one mailbox or a list of at most `max`, parsed to a list. */
function createMailboxesSchema(max: number) {
  return z.union([MailboxInput, z.array(MailboxInput).min(1).max(max)]).transform((value) => [value].flat());
}
const Copies = createMailboxesSchema(COPIES_MAX);
const Replies = createMailboxesSchema(REPLIES_MAX);

interface WithCopies {
  to: Recipient | Recipient[];
  cc?: Recipient[] | undefined;
  bcc?: Recipient[] | undefined;
}

/**
 * Allows `cc` and `bcc` only if `to` has one recipient. Several recipients get separate emails, so it would be unclear
 * which of these emails the copies belong to.
 */
function checkCopies({ to, cc = [], bcc = [] }: WithCopies, ctx: z.RefinementCtx): void {
  if (cc.length + bcc.length === 0) return;
  const recipients = new Set([to].flat().map(({ email }) => email));
  if (recipients.size > 1) {
    const message = 'Must be one recipient when `cc` or `bcc` is set, because several recipients get separate emails';
    ctx.addIssue({ code: 'custom', path: ['to'], message });
  }
  if (cc.length + bcc.length > COPIES_MAX) {
    const message = `At most ${COPIES_MAX} copies in \`cc\` and \`bcc\` together`;
    ctx.addIssue({
      code: 'custom',
      path: [cc.length > bcc.length ? 'cc' : 'bcc'],
      message,
      params: { code: 'too_big' },
    });
  }
}

/** The body of `POST /v1/send`. */
export const SendBody = z
  .object({
    to: z
      .union([MailboxInput, z.array(MailboxInput).min(1).max(RECIPIENTS_MAX)])
      .openapi({ description: 'One or more recipients. Each gets a separate email.' }),
    subject: oneLineText(HEADER_LINE_MAX_CHARS).min(1).optional(),
    body: z.string().min(1).optional().openapi({ description: 'HTML, with Liquid variables' }),
    template: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .openapi({ description: 'Id of a template, instead of `subject` and `body`' }),
    from: MailboxInput.optional().openapi({
      description: 'Sender. Must be on a verified domain. You can omit it if the template has a sender.',
    }),
    name: DisplayName.optional().openapi({
      deprecated: true,
      description: 'Sender name, if `from` is only an address',
    }),
    type: z
      .literal('html', {
        error: 'Must be `html` or omitted. Convert other formats, such as Markdown, to HTML before you send them',
      })
      .optional()
      .openapi({
        deprecated: true,
        description:
          'Has no effect, because the body is always HTML. Accepted for clients that were written for other services.',
      }),
    subscribed: z.boolean().optional(),
    data: z.record(z.string(), z.unknown()).optional(),
    headers: z
      .record(z.string().regex(/^[!-9;-~]{1,76}$/, 'Must be a header name'), oneLineText(HEADER_LINE_MAX_CHARS))
      .superRefine((headers, ctx) => {
        for (const [name, value] of Object.entries(headers)) {
          const message = findHeaderError(name, value);
          if (message) ctx.addIssue({ code: 'custom', path: [name], message });
        }
        for (const name of listRepeatedHeaders(headers)) ctx.addIssue({ ...REPEATED_HEADER, path: [name] });
      })
      .refine((headers) => Object.keys(headers).length <= HEADERS_MAX, {
        error: `At most ${HEADERS_MAX} headers`,
        params: { code: 'too_big' },
      })
      .optional(),
    cc: Copies.optional().openapi({ description: 'Visible copies of the email to the one recipient in `to`' }),
    bcc: Copies.optional().openapi({ description: 'Blind copies of the email to the one recipient in `to`' }),
    reply: Replies.optional().openapi({ description: 'Reply-To: one or more mailboxes' }),
    replyTo: markAsAlias(Replies.optional(), 'reply'),
    attachments: z.array(Attachment).max(ATTACHMENTS_MAX).superRefine(checkContentIds).optional(),
  })
  .superRefine(checkCopies)
  .superRefine((send, ctx) => {
    if (send.template !== undefined) return;
    for (const field of ['subject', 'body', 'from'] as const) {
      if (send[field] !== undefined) continue;
      ctx.addIssue({ code: 'custom', path: [field], message: 'Required', params: { code: 'invalid_type' } });
    }
  })
  .openapi('SendEmail', { example: EXAMPLE });

/** Error messages for fields that other services accept in the body of a send, but this service does not. */
export const SEND_ELSEWHERE = {
  scheduledFor: 'Emails are sent immediately. POST /v1/campaigns/{id}/send with scheduledFor schedules a campaign.',
};

const BATCH_MAX = 100;

/**
 * The body of `POST /v1/send/batch`. Each email is parsed separately, so that the other emails are accepted if one is
 * invalid.
 */
export const SendBatchBody = z
  .object({
    emails: z
      .array(z.unknown())
      .min(1)
      .max(BATCH_MAX)
      .openapi({
        type: 'array',
        items: { $ref: '#/components/schemas/SendEmail' },
        description: 'Emails, each in the same form as the body of `POST /v1/send`',
      }),
    atomic: z.boolean().default(false).openapi({ description: 'Whether to accept all emails or none' }),
  })
  .openapi('SendEmailBatch', { example: { emails: [EXAMPLE], atomic: false } });

export type SendInput = z.output<typeof SendBody>;
