import { z } from '@hono/zod-openapi';
import { EMAIL_HAPPENED, EMAIL_SOURCES } from '../../../rules/emails/email-source.ts';
import { EMAIL_STATUSES } from '../../../rules/emails/email-status.ts';
import { REASONS } from '../../../rules/emails/reasons.ts';
import { cursorQuery, EmailAddress, Id, InstantInput } from '../../http/schemas.ts';

export const ListQuery = cursorQuery(25).extend({
  mode: z
    .enum(['live', 'test', 'all'])
    .default('live')
    .openapi({ description: 'Only emails sent with live keys, or only with test keys' }),
  status: z.enum(EMAIL_STATUSES).optional(),
  sourceType: z.enum(EMAIL_SOURCES).optional().openapi({ description: 'Cause of the email' }),
  reason: z
    .enum(REASONS as [string, ...string[]])
    .optional()
    .openapi({ description: 'Why it was not sent, or ended' }),
  happened: z.enum(EMAIL_HAPPENED).optional().openapi({
    description: 'Emails with this event, whatever came later: a clicked email was also sent',
  }),
  contactId: Id.optional(),
  workflowExecutionId: Id.optional().openapi({ description: 'The execution of a workflow that sent it' }),
  campaignId: Id.optional().openapi({ description: 'Only emails of this campaign' }),
  templateId: Id.optional().openapi({ description: 'Made of this template, by the API or a step of a workflow' }),
  to: EmailAddress.optional().openapi({ description: 'Address of a contact' }),
  since: InstantInput.optional(),
  until: InstantInput.optional(),
});
