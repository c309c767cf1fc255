import type { Trx } from '../../db/connection.ts';
import { upsertContacts } from '../../db/contacts/upsert.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { PIXEL_PREFIX } from '../../rules/events/event-names.ts';
import type { Data } from '../../rules/filters/data-values.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { recordEvents } from './record-events.ts';

export interface PixelEvent {
  /** The name without the prefix `pixel.`, which is added when the event is recorded. */
  name: string;
  clientId?: string | undefined;
  email?: string | undefined;
  data?: Data | undefined;
  /** The time that the web page reports. The event is stored with the time of its arrival. */
  timestamp?: Date | undefined;
}

/**
 * Records events from the pages of a storefront. An event with an address belongs to the contact with this address. If
 * no contact has the address, a contact is created without a subscription, because a page view is not consent. Source:
 * contract §8.1 Tracking.
 * @returns the ids of the events and the new contacts, and the rows to pass to `outbox.wake` after the commit
 */
export async function recordStorefrontPageEvents(
  trx: Trx,
  p: { projectId: string; events: PixelEvent[]; untrusted: boolean; mode: KeyMode; suppressionKey: Buffer },
): Promise<{ created: { contacts: string[]; events: string[] }; outbox: OutboxRow[] }> {
  const { projectId, untrusted, mode } = p;
  const emails = [...new Set(p.events.flatMap((event) => event.email ?? []))];
  const contacts = await upsertContacts(trx, {
    projectId,
    rows: emails.map((email) => ({ email, set: {}, remove: [], by: 'unauthenticated' as const })),
    defaultSubscribed: false,
    suppressionKey: p.suppressionKey,
    causeId: null,
  });
  const ids = new Map(contacts.map((contact) => [contact.email, contact.id]));
  const events = p.events.map((event) => ({
    contactId: (event.email !== undefined && ids.get(event.email)) || null,
    name: PIXEL_PREFIX + event.name,
    data: buildEventData(event),
    untrusted,
    untrustedTrigger: untrusted,
    causeId: null,
    mode,
  }));
  const recorded = await recordEvents(trx, { projectId, events });
  const newIds = contacts.filter(({ isNew }) => isNew).map(({ id }) => id);
  return { created: { contacts: newIds, events: recorded.events.map(({ id }) => id) }, outbox: recorded.outbox };
}

function buildEventData({ data, clientId, timestamp }: PixelEvent): Data {
  return {
    ...data,
    ...(clientId !== undefined && { clientId }),
    ...(timestamp !== undefined && { timestamp: timestamp.toISOString() }),
  };
}
