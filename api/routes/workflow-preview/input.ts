import { z } from '@hono/zod-openapi';
import { anyJsonObject, anyJsonValue } from '../../http/free-json.ts';
import { EmailAddress, EXAMPLE_ID, Id, InstantInput } from '../../http/schemas.ts';
import { RunEvents } from '../executions/input.ts';

/** Enough for all webhooks of a workflow, and some repeated visits. */
const RESPONSES_MAX = 200;

const PreviewContact = z
  .object({
    email: EmailAddress,
    subscribed: z.boolean().default(true),
    data: anyJsonObject("A contact's data").nullish(),
  })
  .openapi('PreviewContact', { example: { email: 'ada@example.com', subscribed: true, data: { plan: 'pro' } } });

export const PreviewWorkflow = z
  .object({
    contactId: Id.optional(),
    contact: PreviewContact.optional().openapi({
      description: 'Instead of `contactId`: a person who is not a contact of the project.',
    }),
    event: anyJsonObject('The data of an event')
      .nullish()
      .openapi({ description: 'The data of the event that starts the workflow.' }),
    context: anyJsonObject('The context of an execution').nullish(),
    startAt: InstantInput.optional().openapi({ description: 'When the simulated execution starts. Defaults to now.' }),
    events: RunEvents.optional().openapi({ description: 'Events that occur during the simulated execution.' }),
    webhooks: z
      .array(
        z.object({
          step: z.string().min(1).max(200).openapi({ description: 'Id or name of a WEBHOOK step.' }),
          status: z.number().int().min(100).max(599).default(200),
          body: anyJsonValue('The response of an endpoint').optional(),
        }),
      )
      .max(RESPONSES_MAX)
      .optional()
      .openapi({
        description:
          'Responses that endpoints are assumed to return. Without an entry for a step, 200 is assumed. If a step has several entries, they apply to its visits in order.',
      }),
  })
  .superRefine(({ contactId, contact }, ctx) => {
    if ((contactId === undefined) === (contact === undefined))
      ctx.addIssue({ code: 'custom', path: ['contactId'], message: 'Send either `contactId` or `contact`' });
  })
  .openapi('PreviewWorkflow', { example: { contactId: EXAMPLE_ID, events: [{ name: 'order.paid' }] } });
