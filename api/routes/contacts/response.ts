import { z } from '@hono/zod-openapi';
import { type Contact, SUBSCRIPTIONS } from '../../../db/contacts/contacts.ts';
import type { Listed } from '../../../db/page-budget.ts';
import { EXAMPLE_ID, Id, Instant, Truncated } from '../../http/schemas.ts';

export const CONTACT_EXAMPLE = {
  id: EXAMPLE_ID,
  email: 'ada@example.com',
  subscribed: true,
  subscription: 'subscribed' as const,
  smsSubscribed: true,
  data: { firstName: 'Ada', plan: 'pro' },
  topics: { [EXAMPLE_ID]: true },
  createdAt: '2026-01-01T12:00:00.000Z',
  updatedAt: '2026-01-01T12:00:00.000Z',
};

export const SubscriptionState = z.enum(SUBSCRIPTIONS).openapi('SubscriptionState', {
  description:
    '`pending` means that the contact got an email to confirm the subscription. The contact is not subscribed until the person confirms.',
});

/** A contact in a response. */
export const ContactRecord = z
  .object({
    id: Id,
    email: z.string(),
    subscribed: z.boolean(),
    subscription: SubscriptionState,
    smsSubscribed: z.boolean().openapi({ description: 'Consent to SMS, independent of `subscribed`' }),
    data: z.record(z.string(), z.unknown()),
    topics: z.record(z.string(), z.boolean()).openapi({
      description:
        "Whether the contact is subscribed to each of the project's topics, by topic id. If the contact has not chosen, this is the default of the topic.",
    }),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('Contact', { example: CONTACT_EXAMPLE });

/** A contact in a page of a segment's contacts. If `truncated` is set, `data` is omitted. */
export const ListedContact = ContactRecord.partial({ data: true })
  .extend({ truncated: Truncated })
  .openapi('ListedContact', { example: CONTACT_EXAMPLE });

const Resubscribed = z
  .boolean()
  .optional()
  .openapi({ description: 'True if the request subscribed a contact that had unsubscribed personally' });

/** A contact in the response to `PATCH /contacts/{id}`. */
export const PatchedContact = ContactRecord.extend({
  _meta: z.object({ resubscribed: Resubscribed }).optional(),
}).openapi('PatchedContact', { example: CONTACT_EXAMPLE });

export const SavedContact = ContactRecord.extend({
  _meta: z.object({ isNew: z.boolean(), isUpdate: z.boolean(), resubscribed: Resubscribed }),
}).openapi('SavedContact', { example: { ...CONTACT_EXAMPLE, _meta: { isNew: true, isUpdate: false } } });

export const LookupResult = z
  .object({
    found: z.array(z.object({ id: Id, email: z.string(), subscribed: z.boolean() })),
    notFound: z.array(z.string()),
  })
  .openapi('ContactLookupResult', {
    example: {
      found: [{ id: CONTACT_EXAMPLE.id, email: 'ada@example.com', subscribed: true }],
      notFound: ['nobody@example.com'],
    },
  });

/** Converts a contact to its form in a page of a segment's contacts. */
export function toListedContactResponse({ truncated, ...contact }: Listed<Contact>) {
  const { data, ...response } = toContactResponse(contact);
  return truncated ? { ...response, truncated: true as const } : { ...response, data };
}

export function toContactResponse(contact: Contact) {
  return { ...contact, createdAt: contact.createdAt.toISOString(), updatedAt: contact.updatedAt.toISOString() };
}
