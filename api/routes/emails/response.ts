import { z } from '@hono/zod-openapi';
import type { AttachmentInfo } from '../../../db/contents/attachments.ts';
import type { Email, EmailTimelineEvent } from '../../../db/emails/emails.ts';
import { countResponseBytes, truncateLists } from '../../../db/page-budget.ts';
import { buildEmailEventData, renderSubjectForRecipient } from '../../../engine/sending/email-variables.ts';
import { EMAIL_SOURCES } from '../../../rules/emails/email-source.ts';
import { EMAIL_STATUSES } from '../../../rules/emails/email-status.ts';
import { getMessageId } from '../../../rules/emails/message-id.ts';
import { REASONS } from '../../../rules/emails/reasons.ts';
import { EXAMPLE_ID, Id, Instant, TruncatedLists } from '../../http/schemas.ts';
import type { EmailAsRead } from './rendering.ts';

const AT = '2026-01-01T12:00:00.000Z';

const EXAMPLE = {
  id: EXAMPLE_ID,
  contactId: EXAMPLE_ID,
  to: 'ada@example.com',
  from: 'hello@shop.example.com',
  fromName: 'Web shop',
  subject: 'Your order 4711',
  status: 'DELIVERED' as const,
  mode: 'live' as const,
  sourceType: 'TRANSACTIONAL' as const,
  templateId: null,
  campaignId: null,
  workflowExecutionId: null,
  messageId: `<${EXAMPLE_ID}@shop.example.com>`,
  opens: 0,
  clicks: 0,
  reason: null,
  error: null,
  createdAt: AT,
  sentAt: AT,
  deliveredAt: AT,
  openedAt: null,
  clickedAt: null,
  bouncedAt: null,
  complainedAt: null,
  failedAt: null,
};

/** An email in a list (contract §9). */
export const EmailItem = z
  .object({
    id: Id,
    contactId: Id.nullable(),
    to: z.string().nullable().openapi({ description: 'Null after the contact is erased' }),
    from: z.string(),
    fromName: z.string().nullable(),
    subject: z.string(),
    status: z.enum(EMAIL_STATUSES),
    mode: z.enum(['live', 'test']),
    sourceType: z.enum(EMAIL_SOURCES),
    templateId: Id.nullable(),
    campaignId: Id.nullable(),
    workflowExecutionId: Id.nullable(),
    messageId: z.string().nullable(),
    opens: z.number().int(),
    clicks: z.number().int(),
    reason: z
      .string()
      .nullable()
      .openapi({ description: `Why the email was not sent or not delivered: ${REASONS.join(', ')}` }),
    error: z.string().nullable().openapi({ description: 'Reply of the provider' }),
    createdAt: Instant,
    sentAt: Instant.nullable(),
    deliveredAt: Instant.nullable(),
    openedAt: Instant.nullable(),
    clickedAt: Instant.nullable(),
    bouncedAt: Instant.nullable(),
    complainedAt: Instant.nullable(),
    failedAt: Instant.nullable().openapi({
      description: 'When the email failed or was skipped. Null for other emails, and if the time was not recorded.',
    }),
  })
  .openapi('EmailItem', { example: EXAMPLE });

/** An email with its content and its timeline. */
export const EmailRecord = EmailItem.extend({
  body: z.string().openapi({ description: 'Rendered HTML' }),
  text: z.string(),
  headers: z.record(z.string(), z.string()).openapi({ description: 'Header names are in lower case' }),
  replyTo: z.string().nullable(),
  role: z
    .enum(['to', 'cc', 'bcc'])
    .nullable()
    .openapi({ description: 'Role of the recipient in an email with copies. Null for an email without copies.' }),
  workflowId: Id.nullable().openapi({ description: 'The workflow of `workflowExecutionId`' }),
  attempts: z.number().int().openapi({ description: 'Number of attempts to send the email' }),
  bounceType: z.enum(['Permanent', 'Transient']).nullable(),
  machineOpens: z.number().int(),
  machineClicks: z.number().int(),
  resentFrom: Id.nullable().openapi({ description: 'Id of the email that this email resends' }),
  attachments: z.array(
    z.object({
      id: Id.nullable().openapi({
        description:
          'Id for `GET /v1/emails/{id}/attachments/{attachmentId}`. Null for a file inside a message from the SMTP relay.',
      }),
      name: z.string(),
      type: z.string(),
      size: z.number().int(),
    }),
  ),
  events: z.array(z.object({ id: Id, name: z.string(), data: z.record(z.string(), z.unknown()), createdAt: Instant })),
  truncated: TruncatedLists,
}).openapi('Email', {
  example: {
    ...EXAMPLE,
    body: '<p>Hello Ada</p>',
    text: 'Hello Ada',
    headers: { subject: 'Your order 4711', 'message-id': `<${EXAMPLE_ID}@shop.example.com>` },
    replyTo: null,
    role: null,
    attempts: 1,
    bounceType: null,
    machineOpens: 0,
    machineClicks: 0,
    resentFrom: null,
    workflowId: null,
    attachments: [{ id: EXAMPLE_ID, name: 'invoice.pdf', type: 'application/pdf', size: 51_200 }],
    events: [{ id: EXAMPLE_ID, name: 'email.sent', data: { emailId: EXAMPLE_ID }, createdAt: AT }],
  },
});

export function toEmailItem(email: Email) {
  const iso = (at: Date | null) => at?.toISOString() ?? null;
  return {
    id: email.id,
    contactId: email.contactId,
    to: email.to,
    from: email.from,
    fromName: email.fromName,
    subject: renderSubjectForRecipient(email),
    status: email.status,
    mode: email.mode,
    sourceType: email.sourceType,
    templateId: email.templateId,
    campaignId: email.campaignId,
    workflowExecutionId: email.executionId,
    messageId: findMessageId(email),
    opens: email.opens,
    clicks: email.clicks,
    reason: email.reason,
    error: email.error,
    createdAt: email.createdAt.toISOString(),
    sentAt: iso(email.sentAt),
    deliveredAt: iso(email.deliveredAt),
    openedAt: iso(email.openedAt),
    clickedAt: iso(email.clickedAt),
    bouncedAt: iso(email.bouncedAt),
    complainedAt: iso(email.complainedAt),
    failedAt: iso(email.failedAt),
  };
}

export function toEmailRecord(p: {
  email: Email;
  read: EmailAsRead;
  workflowId: string | null;
  attachments: (Pick<AttachmentInfo, 'filename' | 'contentType' | 'size'> & { id?: string })[];
  events: EmailTimelineEvent[];
}) {
  const item = toEmailItem(p.email);
  const record = {
    ...item,
    subject: p.read.subject,
    body: p.read.body,
    text: p.read.text,
    headers: p.read.headers,
    replyTo: p.email.replyTo,
    role: p.email.options?.copies?.role ?? null,
    workflowId: p.workflowId,
    attempts: p.email.attempts,
    bounceType: p.email.bounceType,
    machineOpens: p.email.machineOpens,
    machineClicks: p.email.machineClicks,
    resentFrom: p.email.options?.resentFrom ?? null,
    attachments: p.attachments.map(({ id = null, filename, contentType, size }) => ({
      id,
      name: filename,
      type: contentType,
      size,
    })),
  };
  const events = p.events.map((event) => ({
    id: event.id,
    name: event.name,
    data: event.data ?? buildSentPayload(p.email),
    createdAt: event.createdAt.toISOString(),
  }));
  return { ...record, ...truncateLists({ events }, countResponseBytes(record)) };
}

/**
 * Returns the provider's message id. If the provider gave none, returns the Message-ID of a sent email, and null for an
 * email that was not sent.
 */
function findMessageId(email: Email): string | null {
  if (email.providerMessageId !== null) return email.providerMessageId;
  return email.sentAt === null ? null : getMessageId(email);
}

/**
 * Builds the payload of an `email.sent` event from the email. The `email.sent` events of campaign emails are stored
 * without a payload, because the row of the email contains the same data (contract §8.2 Events of the service).
 */
export function buildSentPayload(email: Email): Record<string, unknown> {
  return { ...buildEmailEventData(email).values, sentAt: email.sentAt?.toISOString() ?? null };
}
