import { z } from '@hono/zod-openapi';
import { EMAIL_STATUSES } from '../../../rules/emails/email-status.ts';
import { cursorQuery, EmailAddress, InstantInput } from '../../http/schemas.ts';

export const ListQuery = cursorQuery(25).extend({
  mode: z
    .enum(['live', 'test', 'all'])
    .default('live')
    .openapi({ description: 'What was sent with live or test keys' }),
  status: z.enum(EMAIL_STATUSES).optional(),
  to: EmailAddress.optional().openapi({ description: 'Address of a contact' }),
  since: InstantInput.optional(),
  until: InstantInput.optional(),
});
