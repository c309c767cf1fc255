import { z } from '@hono/zod-openapi';
import type { Db } from '../../../db/connection.ts';
import { listEmailsById } from '../../../db/emails/emails.ts';
import { type EventRecord, findExecutionsStartedBy } from '../../../db/events/events.ts';
import { NOT_STARTED_REASONS } from '../../../rules/events/not-started.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';
import { buildSentPayload } from '../emails/response.ts';

export const EventSchema = z
  .object({
    id: Id,
    name: z.string(),
    contactId: Id.nullable(),
    emailId: Id.nullable(),
    data: z.record(z.string(), z.unknown()),
    executions: z
      .array(z.object({ id: Id, workflowId: Id }))
      .openapi({ description: 'Workflow executions that the event started' }),
    notStarted: z
      .array(z.object({ workflowId: Id, reason: z.enum(NOT_STARTED_REASONS), executionId: Id.nullable() }))
      .openapi({
        description:
          'Enabled workflows with this event name that the event did not start, with the reason, and the execution that prevented it if there is one',
      }),
    createdAt: Instant,
  })
  .openapi('Event', {
    example: {
      id: EXAMPLE_ID,
      name: 'signup',
      contactId: EXAMPLE_ID,
      emailId: null,
      data: { plan: 'pro' },
      executions: [],
      notStarted: [{ workflowId: EXAMPLE_ID, reason: 'entered_before', executionId: EXAMPLE_ID }],
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

/**
 * Converts events to their responses. An `email.sent` of a campaign has no stored payload, so it is built from the
 * email.
 */
export async function toEventResponses(db: Db, { projectId, events }: { projectId: string; events: EventRecord[] }) {
  const missing = events.flatMap((event) => (event.data === null && event.emailId ? [event.emailId] : []));
  const emails = new Map((await listEmailsById(db, { projectId, ids: missing })).map((email) => [email.id, email]));
  const started = await findExecutionsStartedBy(db, { projectId, events });
  return events.map((event) => {
    const email = event.emailId ? emails.get(event.emailId) : undefined;
    return {
      id: event.id,
      name: event.name,
      contactId: event.contactId,
      emailId: event.emailId,
      data: event.data ?? (email ? buildSentPayload(email) : {}),
      executions: (started.get(event.id) ?? []).map(({ id, workflowId }) => ({ id, workflowId })),
      notStarted: event.notStarted,
      createdAt: event.createdAt.toISOString(),
    };
  });
}
