import { createRoute, z } from '@hono/zod-openapi';
import { getContact } from '../../../db/contacts/contacts.ts';
import {
  type TimelineItem as ListedItem,
  listTimeline,
  TIMELINE_ONLY_TYPES,
  TIMELINE_TOTAL_MAX,
} from '../../../db/contacts/timeline.ts';
import { listEmailsById } from '../../../db/emails/emails.ts';
import { renderSubjectForRecipient } from '../../../engine/sending/email-variables.ts';
import { ACTIVITY_TYPES } from '../../../rules/events/activity.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import { cursorList, cursorQuery, EXAMPLE_ID, IdParams, Instant } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';

const LIMIT_DEFAULT = 50;
const LIQUID = /\{[{%]/;

const TimelineItem = z
  .object({
    id: z.string(),
    type: z.enum([...ACTIVITY_TYPES, ...TIMELINE_ONLY_TYPES]),
    timestamp: Instant,
    metadata: z.record(z.string(), z.unknown()).openapi({
      description:
        'For a subscription change: `actor` (`user:<id>`, `key:<id>`, `job:<id>`, `execution:<id>`, `public` for the public key, `contact` for the person, or the source of a report) and `reason`. For an email: its id, subject, and campaign or workflow. For an email that was not sent, also `reason`. For a step: its status.',
    }),
  })
  .openapi('TimelineItem', {
    example: {
      id: `contact.unsubscribed:${EXAMPLE_ID}`,
      type: 'contact.unsubscribed',
      timestamp: '2026-01-01T12:00:00.000Z',
      metadata: { eventName: 'contact.unsubscribed', emailId: null, data: {}, actor: 'contact', reason: 'own_choice' },
    },
  });

const timelineRoute = createRoute({
  method: 'get',
  path: '/contacts/{id}/timeline',
  operationId: 'listContactTimeline',
  tags: ['Contacts'],
  summary: 'List the timeline of a contact',
  description: `Lists events, emails, SMS, executions with their steps, and subscription changes with actor and reason, newest first. \`total\` is counted on the first page only, up to ${TIMELINE_TOTAL_MAX}.`,
  security: allowScopes('contacts:view'),
  request: { params: IdParams, query: cursorQuery(LIMIT_DEFAULT) },
  responses: { 200: jsonResponse(cursorList(TimelineItem)) },
});

export function registerContactTimelineRoutes(app: App, { reads }: Deps): void {
  app.openapi(timelineRoute, async (c) => {
    const { projectId } = c.var;
    const { id } = await getContact(reads, { projectId, id: c.req.valid('param').id });
    const { items, ...page } = await listTimeline(reads, { projectId, contactId: id, ...c.req.valid('query') });
    const subjects = await readSubjects(reads, { projectId, items });
    const data = items.map((item) => ({
      ...item,
      metadata: withSubject(item.metadata, subjects),
      type: item.type as z.infer<typeof TimelineItem>['type'],
      timestamp: item.timestamp.toISOString(),
    }));
    return c.json({ data, ...page }, 200);
  });
}

/**
 * Returns the rendered subjects of emails, by the email's id. Only emails whose subject in the timeline still contains
 * Liquid are read, because events of single emails already have the rendered subject.
 */
async function readSubjects(
  reads: Deps['reads'],
  { projectId, items }: { projectId: string; items: readonly Pick<ListedItem, 'metadata'>[] },
): Promise<Map<string, string>> {
  const ids = items.flatMap(({ metadata: { emailId, subject } }) =>
    typeof emailId === 'string' && typeof subject === 'string' && LIQUID.test(subject) ? [emailId] : [],
  );
  const emails = await listEmailsById(reads, { projectId, ids: [...new Set(ids)] });
  return new Map(emails.map((email) => [email.id, renderSubjectForRecipient(email)]));
}

function withSubject(metadata: ListedItem['metadata'], subjects: Map<string, string>): ListedItem['metadata'] {
  const subject = typeof metadata.emailId === 'string' ? subjects.get(metadata.emailId) : undefined;
  return subject === undefined ? metadata : { ...metadata, subject };
}
