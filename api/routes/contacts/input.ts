import { z } from '@hono/zod-openapi';
import { EmailAddress, Id } from '../../http/schemas.ts';

/** Source: contract §1.11. */
const LOOKUP_MAX_EMAILS = 500;
export const LIST_DEFAULT = 20;

const ContactData = z.record(z.string(), z.unknown()).openapi({
  description:
    'Custom fields, by the value rules: null deletes, an empty string is skipped, `{value, persistent: false}` is not stored.',
  example: { firstName: 'Ada', plan: 'pro' },
});

const Topics = z.record(Id, z.boolean()).openapi({
  description: 'Whether they are on a topic, by its id. Topics that are not named stay as they are.',
  example: { '01890a00-0000-7000-8000-000000000000': false },
});

export const SaveContact = z
  .object({
    email: EmailAddress,
    subscribed: z.boolean().optional(),
    data: ContactData.nullish(),
    topics: Topics.optional(),
  })
  .openapi('SaveContact', { example: { email: 'ada@example.com', subscribed: true, data: { plan: 'pro' } } });

export const PatchContact = z
  .object({
    email: EmailAddress.optional(),
    subscribed: z.boolean().optional(),
    data: ContactData.nullish(),
    topics: Topics.optional(),
  })
  .openapi('PatchContact', { example: { subscribed: false, data: { plan: null } } });

export const Lookup = z
  .object({ emails: z.array(EmailAddress).min(1).max(LOOKUP_MAX_EMAILS) })
  .openapi('ContactLookup', { example: { emails: ['ada@example.com', 'nobody@example.com'] } });
