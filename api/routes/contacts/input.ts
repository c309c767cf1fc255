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
  description: 'A condition as JSON, in the form of segments',
  example: '{"logic":"AND","groups":[{"filters":[{"field":"subscribed","operator":"equals","value":true}]}]}',
});

/** Part of an address or a name. */
export const Search = z.string().max(254);

/** Filters of a list or an export of contacts, combined with AND. */
export const contactFilters = {
  search: Search.optional(),
  condition: ConditionText.optional(),
  subscribed: QuerySwitch.optional().openapi({
    description: '`true` lists only subscribed contacts, `false` only others',
  }),
  createdAfter: InstantInput.optional().openapi({ description: 'Created at this time or later' }),
  createdBefore: InstantInput.optional().openapi({ description: 'Created before this time' }),
  updatedAfter: InstantInput.optional().openapi({ description: 'Changed at this time or later' }),
};

export const ListContacts = cursorQuery(LIST_DEFAULT).extend({
  ...contactFilters,
  sort: z.enum(CONTACT_SORTS).optional().openapi({
    description: '`-createdAt` (default), `createdAt`, `email` or `-email`; `-` is descending',
  }),
  count: QuerySwitch.optional().openapi({
    description: '`false` returns the page without waiting for `total`, which is then 0',
  }),
});

const ContactData = z.record(z.string(), z.unknown()).openapi({
  description:
    'Custom fields. Null deletes a field, an empty string is skipped, and `{value, persistent: false}` is not stored.',
  example: { firstName: 'Ada', plan: 'pro' },
});

const Topics = z.record(Id, z.boolean()).openapi({
  description: 'Subscription to topics, by topic id. Other topics do not change.',
  example: { '01890a00-0000-7000-8000-000000000000': false },
});

const Resubscribe = z.boolean().optional().openapi({
  description:
    "Lets `subscribed: true` subscribe a contact that unsubscribed personally. Required for this if the project's `resubscribe` is `protect`.",
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
 * Names that other services use for consent, and consent that other operations change. Ignoring them would subscribe
 * someone who refused.
 */
export const CONSENT_ELSEWHERE = {
  subscribed: 'Unknown field. Did you mean subscribed? It is true or false.',
  unsubscribed: 'Unknown field. Send subscribed instead, with the opposite value.',
  subscription: 'Follows from subscribed. Send subscribed instead.',
  smsSubscribed: 'POST /v1/sms/stops and DELETE /v1/sms/stops/{phone} change it.',
};

export const Lookup = z
  .object({ emails: z.array(EmailAddress).min(1).max(LOOKUP_MAX_EMAILS) })
  .openapi('ContactLookup', { example: { emails: ['ada@example.com', 'nobody@example.com'] } });
