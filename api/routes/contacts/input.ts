import { z } from '@hono/zod-openapi';
import { CONTACT_SORTS } from '../../../db/contacts/contacts.ts';
import { ConditionInput } from '../../../rules/filters/filters.ts';
import { cursorQuery, EmailAddress, Id, InstantInput, jsonText, QuerySwitch } from '../../http/schemas.ts';

/** Source: contract §1.11 Limits. */
const LOOKUP_MAX_EMAILS = 500;
const LIST_DEFAULT = 20;

/** A condition as JSON text. */
export const ConditionText = jsonText(ConditionInput, 'Must be a condition in JSON').openapi({
  type: 'string',
  description: 'A condition as JSON, in the same form as the condition of a segment',
  example: '{"logic":"AND","groups":[{"filters":[{"field":"subscribed","operator":"equals","value":true}]}]}',
});

/** Part of an address or a name. */
export const Search = z.string().max(254);

/** Filters of a list or an export of contacts, combined with AND. */
export const contactFilters = {
  search: Search.optional(),
  condition: ConditionText.optional(),
  subscribed: QuerySwitch.optional().openapi({
    description: '`true` lists only subscribed contacts, `false` only contacts that are not subscribed',
  }),
  createdAfter: InstantInput.optional().openapi({ description: 'Created at this time or later' }),
  createdBefore: InstantInput.optional().openapi({ description: 'Created before this time' }),
  updatedAfter: InstantInput.optional().openapi({ description: 'Changed at this time or later' }),
};

export const ListContacts = cursorQuery(LIST_DEFAULT).extend({
  ...contactFilters,
  sort: z.enum(CONTACT_SORTS).optional().openapi({
    description:
      'Order of the list: `-createdAt` (default), `createdAt`, `email` or `-email`. A leading `-` means descending.',
  }),
  count: QuerySwitch.optional().openapi({
    description: 'With `false`, the contacts are not counted, which is faster, and `total` is 0',
  }),
});

const ContactData = z.record(z.string(), z.unknown()).openapi({
  description:
    'Custom fields. Null deletes a field, an empty string changes nothing, and a value `{value, persistent: false}` is not stored.',
  example: { firstName: 'Ada', plan: 'pro' },
});

const Topics = z.record(Id, z.boolean()).openapi({
  description:
    'Whether the contact is subscribed to each topic, by topic id. Topics that are not listed do not change.',
  example: { '01890a00-0000-7000-8000-000000000000': false },
});

const Resubscribe = z.boolean().optional().openapi({
  description:
    "Set it to true to subscribe a contact that has unsubscribed personally. Only needed if the project's setting `resubscribe` is `protect`.",
});

export const SaveContact = z
  .object({
    email: EmailAddress,
    subscribed: z.boolean().optional(),
    resubscribe: Resubscribe,
    data: ContactData.nullish(),
    topics: Topics.optional(),
  })
  .openapi('SaveContact', { example: { email: 'ada@example.com', subscribed: true, data: { plan: 'pro' } } });

export const PatchContact = z
  .object({
    email: EmailAddress.optional(),
    subscribed: z.boolean().optional(),
    resubscribe: Resubscribe,
    data: ContactData.nullish(),
    topics: Topics.optional(),
  })
  .openapi('PatchContact', { example: { subscribed: false, data: { plan: null } } });

/**
 * Error messages for fields about consent that a contact does not have. The fields are names that other services use,
 * or kinds of consent that other operations change. Such fields are refused, because ignoring them could subscribe a
 * person who refused.
 */
export const CONSENT_ELSEWHERE = {
  subscribed: 'Unknown field. Did you mean subscribed? It is true or false.',
  unsubscribed: 'Unknown field. Send subscribed instead, with the opposite value.',
  subscription: 'Read-only: it is derived from subscribed. Send subscribed instead.',
  smsSubscribed: 'Read-only here. Change it with POST /v1/sms/stops and DELETE /v1/sms/stops/{phone}.',
};

export const Lookup = z
  .object({ emails: z.array(EmailAddress).min(1).max(LOOKUP_MAX_EMAILS) })
  .openapi('ContactLookup', { example: { emails: ['ada@example.com', 'nobody@example.com'] } });
