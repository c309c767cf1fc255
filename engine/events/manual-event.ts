import { sql } from 'kysely';
import type { Trx } from '../../db/connection.ts';
import { lockOneContact } from '../../db/contacts/locks.ts';
import { type EventRecord, findEvent } from '../../db/events/events.ts';
import type { KeyMode } from '../../rules/access/api-keys.ts';
import { AppError } from '../../rules/errors.ts';
import type { OutboxRow } from '../../rules/outbox.ts';
import { recordEvents } from './record-events.ts';

export interface ManualEvent {
  projectId: string;
  name: string;
  contactId: string | null;
  emailId: string | null;
  data: Record<string, unknown>;
  mode: KeyMode;
}

/**
 * Records an event that a user enters in the dashboard. If the user names an email and no contact, the event belongs to
 * the email's contact.
 * @throws AppError NOT_FOUND for a contact or email of another project
 */
export async function recordManualEvent(
  trx: Trx,
  p: ManualEvent,
): Promise<{ event: EventRecord; outbox: OutboxRow[] }> {
  const contactId = (await resolveContact(trx, p)) ?? null;
  const { events, outbox } = await recordEvents(trx, {
    projectId: p.projectId,
    events: [
      {
        contactId,
        name: p.name,
        data: p.data,
        emailId: p.emailId,
        mode: p.mode,
        untrusted: false,
        untrustedTrigger: false,
        causeId: null,
      },
    ],
  });
  const event = await findEvent(trx, { projectId: p.projectId, id: events[0]?.id ?? null });
  if (!event) throw new Error('a recorded event is missing from its own transaction');
  return { event, outbox };
}

async function resolveContact(trx: Trx, p: ManualEvent): Promise<string | null | undefined> {
  if (p.contactId !== null) await lockOneContact(trx, { projectId: p.projectId, contactId: p.contactId });
  if (p.emailId === null) return p.contactId;
  const { rows } = await sql<{ contactId: string | null }>`
    SELECT contact_id AS "contactId" FROM emails WHERE project_id = ${p.projectId} AND id = ${p.emailId}
  `.execute(trx);
  if (!rows[0]) throw new AppError('NOT_FOUND', { message: 'No email of this project has this id.' });
  return p.contactId ?? rows[0].contactId;
}
