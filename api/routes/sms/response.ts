import { z } from '@hono/zod-openapi';
import type { Sms } from '../../../db/sms/messages.ts';
import { SMS_SOURCES } from '../../../rules/sms/source.ts';
import { SMS_STATUSES } from '../../../rules/sms/status.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';

const AT = '2026-01-01T12:00:00.000Z';

const ACCEPTED = {
  id: EXAMPLE_ID,
  to: '+4915112345678',
  from: '+15005550006',
  country: 'DE',
  encoding: 'GSM7' as const,
  segments: 1,
  status: 'PENDING' as const,
};

const ITEM = {
  ...ACCEPTED,
  status: 'DELIVERED' as const,
  contactId: EXAMPLE_ID,
  mode: 'live' as const,
  sourceType: 'TRANSACTIONAL' as const,
  workflowExecutionId: null,
  reason: null,
  error: null,
  createdAt: AT,
  sentAt: AT,
  deliveredAt: AT,
};

/** The response of `POST /v1/sms/send`. */
export const AcceptedSms = z
  .object({
    id: Id,
    to: z.string(),
    from: z.string(),
    country: z.string(),
    encoding: z.enum(['GSM7', 'UCS2']),
    segments: z.number().int().openapi({ description: 'Number of billed segments' }),
    status: z.enum(SMS_STATUSES),
  })
  .openapi('AcceptedSms', { example: ACCEPTED });

export const SmsItem = AcceptedSms.extend({
  contactId: Id.nullable(),
  mode: z.enum(['live', 'test']),
  sourceType: z.enum(SMS_SOURCES),
  workflowExecutionId: Id.nullable(),
  reason: z.string().nullable(),
  error: z.string().nullable(),
  createdAt: Instant,
  sentAt: Instant.nullable(),
  deliveredAt: Instant.nullable(),
}).openapi('SmsItem', { example: ITEM });

export const SmsRecord = SmsItem.extend({
  body: z.string(),
  workflowId: Id.nullable().openapi({ description: 'The workflow of `workflowExecutionId`' }),
  messageId: z.string().nullable().openapi({ description: 'Message id of the provider' }),
}).openapi('Sms', { example: { ...ITEM, body: 'Your code is 4711', workflowId: null, messageId: 'SM0123' } });

export function toAcceptedSms({ id, to, from, country, encoding, segments, status }: Sms) {
  return { id, to, from, country, encoding, segments, status };
}

export function toSmsItem(sms: Sms) {
  return {
    ...toAcceptedSms(sms),
    contactId: sms.contactId,
    mode: sms.mode,
    sourceType: sms.executionId === null ? ('TRANSACTIONAL' as const) : ('WORKFLOW' as const),
    workflowExecutionId: sms.executionId,
    reason: sms.reason,
    error: sms.error,
    createdAt: sms.createdAt.toISOString(),
    sentAt: sms.sentAt?.toISOString() ?? null,
    deliveredAt: sms.deliveredAt?.toISOString() ?? null,
  };
}

export function toSmsRecord(sms: Sms, workflowId: string | null) {
  return { ...toSmsItem(sms), body: sms.body, workflowId, messageId: sms.providerMessageId };
}
