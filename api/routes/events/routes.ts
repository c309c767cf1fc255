import { createRoute, z } from '@hono/zod-openapi';
import { getContact } from '../../../db/contacts/contacts.ts';
import { countEvents, deleteEvents, getEventUsage, listEvents } from '../../../db/events/events.ts';
import { truncateLists } from '../../../db/page-budget.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { listEventNames } from '../../../db/workflows/workflow-fields.ts';
import { recordManualEvent } from '../../../engine/events/manual-event.ts';
import { EVENT_NAME_LENGTH } from '../../../rules/events/event-names.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { noteAffectedRows } from '../../http/request-log.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { cursorQuery, EXAMPLE_ID, Id, Instant, InstantInput, NamedUse, TruncatedLists } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { NameParams, RecordEvent } from './input.ts';
import { EventList, EventSchema, toEventResponses } from './response.ts';

const tags = ['Events'];

const recordRoute = {
  ...createRoute({
    method: 'post',
    path: '/events/track',
    operationId: 'recordEvent',
    tags,
    summary: 'Record an event by contact or email id',
    description:
      "The dashboard uses this operation. To record events from your product, use `POST /v1/track`. With `emailId` and without `contactId`, the event belongs to the email's contact.",
    security: allowScopes('events:edit'),
    request: { body: jsonBody(RecordEvent) },
    responses: { 201: jsonResponse(EventSchema), ...errorResponses('NOT_FOUND') },
  }),
  setElsewhere: { email: 'Send contactId instead, or use POST /v1/track, which takes an email address.' },
};

const listRoute = createRoute({
  method: 'get',
  path: '/events',
  operationId: 'listEvents',
  tags,
  summary: 'List recent events',
  description: 'Lists events, newest first. `events` and `data` are the same list.',
  security: allowScopes('events:view'),
  request: { query: cursorQuery(50).extend({ eventName: z.string().min(1).max(EVENT_NAME_LENGTH).optional() }) },
  responses: { 200: jsonResponse(EventList) },
});

const statsRoute = createRoute({
  method: 'get',
  path: '/events/stats',
  operationId: 'getEventStats',
  tags,
  summary: 'Count events by name',
  description: 'Counts the events of each name, the most frequent first. Without dates, all events are counted.',
  security: allowScopes('events:view'),
  request: { query: z.object({ startDate: InstantInput.optional(), endDate: InstantInput.optional() }) },
  responses: {
    200: jsonResponse(
      z
        .array(z.object({ name: z.string(), count: z.number().int(), lastAt: Instant }))
        .openapi('EventStats', { example: [{ name: 'signup', count: 42, lastAt: '2026-01-01T12:00:00.000Z' }] }),
    ),
  },
});

const namesRoute = createRoute({
  method: 'get',
  path: '/events/names',
  operationId: 'listEventNames',
  tags,
  summary: 'List the names of events',
  description: 'Lists the names of events that the project has recorded, in alphabetical order, at most 1,000.',
  security: allowScopes('events:view'),
  responses: {
    200: jsonResponse(
      z.object({ eventNames: z.array(z.string()) }).openapi('EventNames', { example: { eventNames: ['signup'] } }),
    ),
  },
});

const ofContactRoute = createRoute({
  method: 'get',
  path: '/events/contact/{contactId}',
  operationId: 'listContactEvents',
  tags,
  summary: "List a contact's events",
  description: 'Newest first.',
  security: allowScopes('events:view'),
  request: { params: z.object({ contactId: Id }), query: cursorQuery(50) },
  responses: { 200: jsonResponse(EventList) },
});

const usageRoute = createRoute({
  method: 'get',
  path: '/events/{eventName}/usage',
  operationId: 'getEventUsage',
  tags,
  summary: 'List the uses of an event name',
  description:
    'Returns the segments and workflows that use the name, how often it was recorded, and for how many contacts.',
  security: allowScopes('events:view'),
  request: { params: NameParams },
  responses: {
    200: jsonResponse(
      z
        .object({
          usedInSegments: z.array(NamedUse),
          usedInWorkflows: z.array(NamedUse),
          totalCount: z.number().int(),
          uniqueContacts: z.number().int(),
          canDelete: z.boolean(),
          truncated: TruncatedLists,
        })
        .openapi('EventUsage', {
          example: {
            usedInSegments: [],
            usedInWorkflows: [{ id: EXAMPLE_ID, name: 'Welcome' }],
            totalCount: 42,
            uniqueContacts: 40,
            canDelete: false,
          },
        }),
    ),
  },
});

const purgeRoute = createRoute({
  method: 'delete',
  path: '/events/{eventName}',
  operationId: 'deleteEvents',
  tags,
  summary: 'Delete all events with a name',
  description: 'Returns 409 while a segment or workflow uses the name, and for events that the service records.',
  security: allowScopes('events:edit'),
  request: { params: NameParams },
  responses: {
    200: jsonResponse(
      z.object({ deletedCount: z.number().int() }).openapi('DeletedEvents', { example: { deletedCount: 42 } }),
    ),
    ...errorResponses('CONFLICT'),
  },
});

export function registerEventRoutes(app: App, { db, reads, outbox }: Deps): void {
  app.openapi(recordRoute, async (c) => {
    const { name, contactId, emailId, data } = c.req.valid('json');
    const { projectId, mode } = c.var;
    const { event, outbox: queued } = await inTransaction(db, (trx) =>
      recordManualEvent(trx, {
        projectId,
        name,
        mode,
        contactId: contactId ?? null,
        emailId: emailId ?? null,
        data: data ?? {},
      }),
    );
    outbox.wake(queued);
    const [response] = await toEventResponses(db, { projectId, events: [event] });
    if (!response) throw new Error('one event has one result');
    noteAffectedRows(c, { events: [event.id] });
    return c.json(response, 201);
  });

  app.openapi(listRoute, async (c) => {
    const { projectId } = c.var;
    const { items, ...page } = await listEvents(reads, { projectId, ...c.req.valid('query') });
    const events = await toEventResponses(reads, { projectId, events: items });
    return c.json({ events, data: events, ...page }, 200);
  });

  app.openapi(statsRoute, async (c) => {
    const { startDate, endDate } = c.req.valid('query');
    const counts = await countEvents(reads, {
      projectId: c.var.projectId,
      ...(startDate && { since: startDate }),
      ...(endDate && { until: endDate }),
    });
    return c.json(
      counts.map((row) => ({ ...row, lastAt: row.lastAt.toISOString() })),
      200,
    );
  });

  app.openapi(namesRoute, async (c) => c.json({ eventNames: await listEventNames(reads, c.var.projectId) }, 200));

  app.openapi(ofContactRoute, async (c) => {
    const { projectId } = c.var;
    const { contactId } = c.req.valid('param');
    await getContact(db, { projectId, id: contactId });
    const { items, ...page } = await listEvents(reads, { projectId, contactId, ...c.req.valid('query') });
    const events = await toEventResponses(reads, { projectId, events: items });
    return c.json({ events, data: events, ...page }, 200);
  });

  app.openapi(usageRoute, async (c) => {
    const { eventName: name } = c.req.valid('param');
    const { usedInSegments, usedInWorkflows, ...counts } = await getEventUsage(reads, {
      projectId: c.var.projectId,
      name,
    });
    return c.json({ ...truncateLists({ usedInSegments, usedInWorkflows }), ...counts }, 200);
  });

  app.openapi(purgeRoute, async (c) => {
    const { eventName: name } = c.req.valid('param');
    return c.json({ deletedCount: await deleteEvents(db, { projectId: c.var.projectId, name }) }, 200);
  });
}
