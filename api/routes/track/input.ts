import { z } from '@hono/zod-openapi';
import { EVENT_NAME_LENGTH, findEventNameError, trimEventName } from '../../../rules/events/event-names.ts';
import { EmailAddress } from '../../http/schemas.ts';

const EventName = z
  .string()
  .overwrite(trimEventName)
  .min(1, { abort: true })
  .max(EVENT_NAME_LENGTH, { abort: true })
  .superRefine((name, ctx) => {
    const fault = findEventNameError(name);
    if (fault) ctx.addIssue({ code: 'custom', message: fault.message, params: { code: fault.code } });
  })
  .openapi({ minLength: 1, maxLength: EVENT_NAME_LENGTH, example: 'signup' });

export const TrackEvent = z
  .object({
    email: EmailAddress,
    event: EventName,
    subscribed: z.boolean().optional(),
    resubscribe: z.boolean().optional().openapi({
      description: 'Only with a secret key, as in `POST /contacts`',
    }),
    data: z.record(z.string(), z.unknown()).nullish(),
  })
  .openapi('TrackEvent', { example: { email: 'ada@example.com', event: 'signup', data: { plan: 'pro' } } });
