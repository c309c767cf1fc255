import { z } from '@hono/zod-openapi';
import { EVENT_NAME_LENGTH, findEventNameError, trimEventName } from '../../../rules/events/event-names.ts';
import { anyJsonObject } from '../../http/free-json.ts';
import { EXAMPLE_ID, Id } from '../../http/schemas.ts';

export const NameParams = z.object({
  eventName: z.string().min(1).max(EVENT_NAME_LENGTH).openapi({ example: 'signup' }),
});

export const RecordEvent = z
  .object({
    name: z
      .string()
      .overwrite(trimEventName)
      .min(1, { abort: true })
      .max(EVENT_NAME_LENGTH, { abort: true })
      .superRefine((name, ctx) => {
        const fault = findEventNameError(name, 'name');
        if (fault) ctx.addIssue({ code: 'custom', message: fault.message, params: { code: fault.code } });
      }),
    contactId: Id.nullish(),
    emailId: Id.nullish(),
    data: anyJsonObject('The data of an event').nullish(),
  })
  .openapi('RecordEvent', { example: { name: 'signup', contactId: EXAMPLE_ID, data: { plan: 'pro' } } });
