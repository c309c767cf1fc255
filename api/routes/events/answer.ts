import { z } from '@hono/zod-openapi';
import type { Db } from '../../../db/connection.ts';
import { listEmailsById } from '../../../db/emails/emails.ts';
import type { EventRecord } from '../../../db/events/events.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';
import { sentPayload } from '../emails/answer.ts';

export const EventSchema = z
  .object({
    id: Id,
    name: z.string(),
    contactId: Id.nullable(),
    emailId: Id.nullable(),
    data: z.record(z.string(), z.unknown()),
    createdAt: Instant,
  })
  .openapi('Event', {
    example: {
      id: EXAMPLE_ID,
      name: 'signup',
      contactId: EXAMPLE_ID,
      emailId: null,
      data: { plan: 'pro' },
      createdAt: '2026-01-01T12:00:00.000Z',
    },
  });

export const EventList = z
  .object({
    events: z.array(EventSchema),
    data: z.array(EventSchema),
    cursor: z.string().nullable(),
    hasMore: z.boolean(),
  })
  .openapi('EventList', { example: { events: [], data: [], cursor: null, hasMore: false } });

/** Events as they are answered. The payload of a campaign's `email.sent` is made here from its email. */
export async function eventAnswers(db: Db, { projectId, events }: { projectId: string; events: EventRecord[] }) {
  const missing = events.flatMap((event) => (event.data === null && event.emailId ? [event.emailId] : []));
  const emails = new Map((await listEmailsById(db, { projectId, ids: missing })).map((email) => [email.id, email]));
  return events.map((event) => {
    const email = event.emailId ? emails.get(event.emailId) : undefined;
    return {
      id: event.id,
      name: event.name,
      contactId: event.contactId,
      emailId: event.emailId,
      data: event.data ?? (email ? sentPayload(email) : {}),
      createdAt: event.createdAt.toISOString(),
    };
  });
}
