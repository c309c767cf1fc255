import { createRoute, z } from '@hono/zod-openapi';
import {
  type ContactExecution,
  listContactExecutions,
  listContactSegments,
  listSubscriptionChanges,
} from '../../../db/contacts/contact-state.ts';
import { getContact } from '../../../db/contacts/contacts.ts';
import { listSuppressions } from '../../../db/contacts/suppressions.ts';
import { truncateLists } from '../../../db/page-budget.ts';
import { findActorNames } from '../../../db/projects/actors.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { computeAddressHash } from '../../../rules/emails/suppression.ts';
import { STEP_TYPES } from '../../../rules/executions/steps/registry.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import {
  cursorList,
  cursorQuery,
  EXAMPLE_ID,
  Id,
  IdParams,
  Instant,
  QuerySwitch,
  TruncatedLists,
} from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { SuppressionRecord, toSuppressionResponse } from '../suppressions/response.ts';
import { ExecutionStatusSchema } from '../workflows/response.ts';
import { SubscriptionState } from './response.ts';

const LIST_DEFAULT = 20;
/** The suppression list has an address at most once per reason, and there are four reasons. */
const SUPPRESSIONS_MAX = 10;
const AT = '2026-01-01T12:00:00.000Z';

const Actor = z.string().nullable().openapi({
  description:
    'The author of the change: `user:<id>`, `key:<id>`, `job:<id>`, `execution:<id>`, `public` for the public key, `contact` for the person, or the source of a bounce or complaint report. Null if unknown.',
});
const ActorName = z.string().nullable().openapi({
  description: 'Email address of the user, or name of the key or workflow. Null if the actor has no name.',
});

const ContactSubscription = z
  .object({
    subscribed: z.boolean(),
    subscription: SubscriptionState,
    smsSubscribed: z.boolean(),
    changes: z
      .array(
        z.object({
          at: Instant,
          subscribed: z.boolean(),
          actor: Actor,
          actorName: ActorName,
          reason: z.string().nullable(),
        }),
      )
      .openapi({
        description:
          'The latest 20 changes, newest first. Empty if the subscription has not changed since the contact was created.',
      }),
    suppressions: z.array(SuppressionRecord.extend({ actorName: ActorName })),
  })
  .openapi('ContactSubscription', {
    example: {
      subscribed: false,
      subscription: 'unsubscribed',
      smsSubscribed: true,
      changes: [{ at: AT, subscribed: false, actor: 'contact', actorName: null, reason: 'own_choice' }],
      suppressions: [
        {
          id: EXAMPLE_ID,
          email: 'ada@example.com',
          reason: 'unsubscribe',
          source: 'unsubscribe_page',
          actor: 'contact',
          actorName: null,
          createdAt: AT,
        },
      ],
    },
  });

const subscriptionRoute = createRoute({
  method: 'get',
  path: '/contacts/{id}/subscription',
  operationId: 'getContactSubscription',
  tags: ['Contacts'],
  summary: 'Get the subscription of a contact',
  description:
    'Returns whether the contact gets email, the changes of its subscription with actor, time and reason, and the suppressions of its address.',
  security: allowScopes('contacts:view'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(ContactSubscription) },
});

const ContactSegments = z
  .object({
    data: z.array(
      z.object({
        id: Id,
        name: z.string(),
        slug: z.string(),
        type: z.enum(['DYNAMIC', 'STATIC']),
        memberSince: Instant.nullable().openapi({
          description:
            'When the contact became a stored member of a STATIC or tracked segment. Null for other segments.',
        }),
      }),
    ),
    truncated: TruncatedLists,
  })
  .openapi('ContactSegments', {
    example: { data: [{ id: EXAMPLE_ID, name: 'VIP', slug: 'vip', type: 'STATIC', memberSince: AT }] },
  });

const segmentsRoute = createRoute({
  method: 'get',
  path: '/contacts/{id}/segments',
  operationId: 'listContactSegments',
  tags: ['Contacts'],
  summary: 'List the segments of a contact',
  description:
    'Lists the segments that the contact is in at this moment, ordered by name. `GET /segments/{id}/explain?contactId=` explains why a contact is in a segment.',
  security: allowScopes('contacts:view', 'segments:view'),
  request: { params: IdParams },
  responses: { 200: jsonResponse(ContactSegments) },
});

const ContactExecutionRecord = z
  .object({
    id: Id,
    workflowId: Id,
    workflowName: z.string(),
    status: ExecutionStatusSchema,
    sandbox: z
      .boolean()
      .openapi({ description: 'True for an execution that tests a workflow. Statistics do not count it.' }),
    currentStepId: Id.nullable(),
    stepName: z.string().nullable(),
    stepType: z.enum(STEP_TYPES).nullable(),
    dueAt: Instant.nullable().openapi({ description: 'When the current step continues' }),
    exitReason: z.string().nullable(),
    error: z.string().nullable(),
    startedAt: Instant,
    completedAt: Instant.nullable(),
  })
  .openapi('ContactExecution', {
    example: {
      id: EXAMPLE_ID,
      workflowId: EXAMPLE_ID,
      workflowName: 'Welcome',
      status: 'WAITING',
      sandbox: false,
      currentStepId: EXAMPLE_ID,
      stepName: 'A day later',
      stepType: 'DELAY',
      dueAt: AT,
      exitReason: null,
      error: null,
      startedAt: AT,
      completedAt: null,
    },
  });

const executionsRoute = createRoute({
  method: 'get',
  path: '/contacts/{id}/executions',
  operationId: 'listContactExecutions',
  tags: ['Contacts'],
  summary: 'List the executions of a contact',
  description: 'Executions of all workflows, newest first, each with its current step.',
  security: allowScopes('contacts:view', 'workflows:view'),
  request: {
    params: IdParams,
    query: cursorQuery(LIST_DEFAULT).extend({
      active: QuerySwitch.optional().openapi({
        description: '`true` lists only records that have not ended, `false` only records that have ended',
      }),
    }),
  },
  responses: { 200: jsonResponse(cursorList(ContactExecutionRecord)) },
});

/** Registers the operations for the state of a contact: its subscription, segments and executions. */
export function registerContactStateRoutes(app: App, { reads, compute, config }: Deps): void {
  const key = deriveKey(config.secretKey, 'suppression');

  app.openapi(subscriptionRoute, async (c) => {
    const { projectId } = c.var;
    const contact = await getContact(reads, { projectId, id: c.req.valid('param').id });
    const { subscribed, subscription, smsSubscribed } = contact;
    const changes = await listSubscriptionChanges(reads, { projectId, id: contact.id });
    const hash = computeAddressHash(key, contact.email);
    const { items } = await listSuppressions(reads, { projectId, hash, limit: SUPPRESSIONS_MAX });
    const names = await findActorNames(reads, { projectId, actors: items.map(({ actor }) => actor) });
    const suppressions = items.map((entry) => ({
      ...toSuppressionResponse(entry),
      actorName: names.get(entry.actor ?? '') ?? null,
    }));
    const changeRecords = changes.map((change) => ({ ...change, at: change.at.toISOString() }));
    return c.json({ subscribed, subscription, smsSubscribed, changes: changeRecords, suppressions }, 200);
  });

  app.openapi(segmentsRoute, async (c) => {
    const { projectId } = c.var;
    const { id } = await getContact(reads, { projectId, id: c.req.valid('param').id });
    const work = { projectId, kind: 'contacts.segments' };
    const segments = await compute.runLargeRead(work, () => listContactSegments(reads, { projectId, id }));
    const data = segments.map((segment) => ({ ...segment, memberSince: segment.memberSince?.toISOString() ?? null }));
    return c.json(truncateLists({ data }), 200);
  });

  app.openapi(executionsRoute, async (c) => {
    const { projectId } = c.var;
    const { id } = await getContact(reads, { projectId, id: c.req.valid('param').id });
    const { items, ...page } = await listContactExecutions(reads, { projectId, id, ...c.req.valid('query') });
    return c.json({ data: items.map(toExecutionResponse), ...page }, 200);
  });
}

function toExecutionResponse(execution: ContactExecution) {
  return {
    ...execution,
    dueAt: execution.dueAt?.toISOString() ?? null,
    startedAt: execution.startedAt.toISOString(),
    completedAt: execution.completedAt?.toISOString() ?? null,
  };
}
