import { z } from '@hono/zod-openapi';
import type { Contact } from '../db/contacts.ts';
import { Id, Instant } from './schemas.ts';

export const CONTACT_EXAMPLE = {
  id: '0190a000-0000-7000-8000-000000000000',
  email: 'ada@example.com',
  subscribed: true,
  smsSubscribed: true,
  data: { firstName: 'Ada', plan: 'pro' },
  createdAt: '2026-01-01T12:00:00.000Z',
  updatedAt: '2026-01-01T12:00:00.000Z',
};

/** A contact as every endpoint answers it. */
export const ContactRecord = z
  .object({
    id: Id,
    email: z.string(),
    subscribed: z.boolean(),
    smsSubscribed: z.boolean().openapi({ description: 'Consent to SMS, apart from `subscribed`' }),
    data: z.record(z.string(), z.unknown()),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('Contact', { example: CONTACT_EXAMPLE });

export function contactAnswer(contact: Contact) {
  return { ...contact, createdAt: contact.createdAt.toISOString(), updatedAt: contact.updatedAt.toISOString() };
}
