import { z } from '@hono/zod-openapi';
import { readPhoneNumber } from '../../../rules/sms/phone.ts';
import { Id } from '../../http/schemas.ts';

/** A longer SMS is refused and not truncated. */
const BODY_MAX_CHARS = 1600;
const NOT_E164 = 'Must be a phone number in E.164, such as +4915112345678';

export const SendSms = z
  .object({
    to: z.string().refine((text) => readPhoneNumber(text), { error: NOT_E164, params: { code: 'invalid_string' } }),
    body: z.string().min(1).max(BODY_MAX_CHARS),
    contactId: Id.optional().openapi({
      description: 'Contact of the SMS. If omitted, the service finds the contact by the number.',
    }),
  })
  .openapi('SendSms', { example: { to: '+4915112345678', body: 'Your code is 4711' } });
