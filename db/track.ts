import type { Transaction } from 'kysely';
import { applyData, type Data, plainData } from '../domain/data-values.ts';
import { AppError } from '../domain/errors.ts';
import type { OutboxRow } from '../domain/outbox.ts';
import { upsertContacts } from './contact-upsert.ts';
import { recordEvents } from './record-events.ts';
import type { Database } from './schema.ts';
import { recordSubscriptionChanges } from './subscription-changes.ts';

export interface TrackedEvent {
  projectId: string;
  email: string;
  event: string;
  subscribed?: boolean | undefined;
  data?: Data | undefined;
  /** Sent with the public key: it lifts no refusal, and its data is plain text for ever. */
  untrusted: boolean;
  mode: 'live' | 'test';
  suppressionKey: Buffer;
}

/**
 * Records an event of a contact, created if it is new, with the data that is to be kept on the contact.
 * Source: spec "POST /v1/track".
 * @throws AppError VALIDATION_ERROR for data beyond the limits
 */
export async function trackEvent(
  trx: Transaction<Database>,
  p: TrackedEvent,
): Promise<{ contactId: string; eventId: string; outbox: OutboxRow[] }> {
  const { projectId, untrusted, mode } = p;
  const { set, remove, errors } = applyData(p.data);
  if (errors.length > 0) throw new AppError('VALIDATION_ERROR', { errors });
  const [contact] = await upsertContacts(trx, {
    projectId,
    rows: [{ email: p.email, subscribed: p.subscribed, set, remove, untrusted }],
    // Tracking is what a product does with its users: a new contact is subscribed unless the caller says otherwise.
    defaultSubscribed: true,
    suppressionKey: p.suppressionKey,
  });
  if (!contact) throw new Error('an upserted contact is missing from its own result');
  const changes = await recordSubscriptionChanges(trx, { projectId, contacts: [contact], untrusted, mode });
  const recorded = await recordEvents(trx, {
    projectId,
    events: [{ contactId: contact.id, name: p.event, data: plainData(p.data ?? {}), untrusted, mode }],
  });
  const [event] = recorded.events;
  if (!event) throw new Error('a recorded event is missing from its own result');
  return { contactId: contact.id, eventId: event.id, outbox: [...changes, ...recorded.outbox] };
}
