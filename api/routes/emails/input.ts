import { z } from '@hono/zod-openapi';
import { EMAIL_HAPPENED, EMAIL_SOURCES } from '../../../rules/emails/email-source.ts';
import { EMAIL_STATUSES } from '../../../rules/emails/email-status.ts';
import { REASONS } from '../../../rules/emails/reasons.ts';
import { cursorQuery, EmailAddress, Id, InstantInput } from '../../http/schemas.ts';

export const ListQuery = cursorQuery(25).extend({
  mode: z
    .enum(['live', 'test', 'all'])
    .default('live')
    .openapi({ description: '`live` lists only emails of live keys, `test` only emails of test keys' }),
  status: z.enum(EMAIL_STATUSES).optional(),
  sourceType: z
    .enum(EMAIL_SOURCES)
    .optional()
    .openapi({ description: 'Whether a request, a workflow, a campaign or an inbound message created the email' }),
  reason: z
    .enum(REASONS as [string, ...string[]])
    .optional()
    .openapi({ description: 'Why the email was not sent or not delivered' }),
  happened: z.enum(EMAIL_HAPPENED).optional().openapi({
    description:
      'Lists only emails to which this happened, even if their status has changed since: `sent` includes clicked emails',
  }),
  contactId: Id.optional(),
  workflowExecutionId: Id.optional().openapi({ description: 'Only messages that this workflow execution sent' }),
  campaignId: Id.optional().openapi({ description: 'Only emails of this campaign' }),
  templateId: Id.optional().openapi({ description: 'Only emails with this template, from the API or a workflow step' }),
  to: EmailAddress.optional().openapi({ description: 'Address of a contact' }),
  since: InstantInput.optional(),
  until: InstantInput.optional(),
});
