import { z } from '@hono/zod-openapi';
import { refuseExpressions } from '../../../rules/content/expressions.ts';
import { trimEventName } from '../../../rules/events/event-names.ts';
import { refuseImpossiblePattern } from '../../../rules/events/listened-event.ts';
import { EXAMPLE_ID, InstantInput } from '../../http/schemas.ts';

export const AT = '2026-01-01T12:00:00.000Z';

export const EXAMPLE = {
  id: EXAMPLE_ID,
  url: 'https://example.com/hooks',
  events: ['email.*', 'signup'],
  description: null,
  status: 'ACTIVE' as const,
  enabled: true,
  disabledReason: null,
  failuresInRow: 0,
  createdAt: AT,
  updatedAt: AT,
};

const Url = z
  .url({
    protocol: /^https?$/,
    error: ({ code }) => (code === 'invalid_format' ? 'Must be an http:// or https:// URL' : undefined),
  })
  .max(2_000)
  .superRefine(refuseExpressions)
  .openapi({ format: 'uri', example: EXAMPLE.url });

const Events = z
  .array(
    z
      .string()
      .overwrite(trimEventName)
      .min(1, { abort: true })
      .max(255)
      .regex(/^[^*]*\*?$/, 'An asterisk is allowed only at the end')
      .superRefine(refuseImpossiblePattern),
  )
  .min(1)
  .max(50)
  .openapi({ description: 'Event names, prefixes such as `email.*`, or `*`', example: ['email.*'] });

const Description = z.string().max(500).nullish();

export const CreateEndpoint = z
  .object({ url: Url, events: Events, description: Description, enabled: z.boolean().optional() })
  .openapi('CreateWebhookEndpoint', { example: { url: EXAMPLE.url, events: ['email.*'] } });

export const PatchEndpoint = z
  .object({ url: Url.optional(), events: Events.optional(), description: Description, enabled: z.boolean().optional() })
  .openapi('PatchWebhookEndpoint', { example: { enabled: true } });

export const Status = z.enum(['PENDING', 'DELIVERED', 'FAILED']);

export const ReplayWebhooks = z
  .object({ since: InstantInput, status: Status.optional() })
  .openapi('ReplayWebhooks', { example: { since: AT } });
