import { createRoute, z } from '@hono/zod-openapi';
import { inTransaction } from '../../../db/transaction.ts';
import { listDeliveries, type Replay, replayDeliveries, type WebhookDelivery } from '../../../db/webhook-deliveries.ts';
import {
  deleteEndpoint,
  getEndpoint,
  insertEndpoint,
  listEndpoints,
  rotateSecret,
  updateEndpoint,
  type WebhookEndpoint,
} from '../../../db/webhook-endpoints.ts';
import { deriveKey } from '../../../domain/secrets.ts';
import { maskUrl } from '../../../domain/url-secrets.ts';
import { errors, json, noContent, ok } from '../../http/answers.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { cursorList, cursorQuery, Id, IdParams, Instant, InstantInput } from '../../http/schemas.ts';
import { scopes } from '../../http/security.ts';

const tags = ['Webhooks'];
const ID = '0190a000-0000-7000-8000-000000000000';
const AT = '2026-01-01T12:00:00.000Z';
const EXAMPLE = {
  id: ID,
  url: 'https://example.com/hooks',
  events: ['email.*', 'signup'],
  description: null,
  status: 'ACTIVE' as const,
  enabled: true,
  disabledReason: null,
  failuresInRow: 0,
  createdAt: AT,
  updatedAt: AT,
};

const Url = z
  .url({ protocol: /^https?$/, error: 'Must be an http:// or https:// address' })
  .max(2_000)
  .openapi({ format: 'uri', example: EXAMPLE.url });
const Events = z
  .array(
    z
      .string()
      .min(1)
      .max(255)
      .regex(/^[^*]*\*?$/, 'An asterisk may stand at the end only'),
  )
  .min(1)
  .max(50)
  .openapi({ description: 'Names, prefixes such as `email.*`, or `*`', example: ['email.*'] });
const Description = z.string().max(500).nullish();

const Endpoint = z
  .object({
    id: Id,
    url: z.string(),
    events: z.array(z.string()),
    description: z.string().nullable(),
    status: z.enum(['ACTIVE', 'DEGRADED', 'DISABLED']),
    enabled: z.boolean(),
    disabledReason: z.string().nullable(),
    failuresInRow: z.number().int(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('WebhookEndpoint', { example: EXAMPLE });
const SECRET_EXAMPLE = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=';
const EndpointWithSecret = Endpoint.extend({ secret: z.string() }).openapi('WebhookEndpointWithSecret', {
  description: '`secret` is shown this once.',
  example: { ...EXAMPLE, secret: SECRET_EXAMPLE },
});
const CreateEndpoint = z
  .object({ url: Url, events: Events, description: Description })
  .openapi('CreateWebhookEndpoint', { example: { url: EXAMPLE.url, events: ['email.*'] } });
const PatchEndpoint = z
  .object({ url: Url.optional(), events: Events.optional(), description: Description, enabled: z.boolean().optional() })
  .openapi('PatchWebhookEndpoint', { example: { enabled: true } });

const Delivery = z
  .object({
    id: Id,
    eventId: Id,
    event: z.string(),
    status: z.enum(['PENDING', 'DELIVERED', 'FAILED']),
    attempts: z.number().int(),
    responseStatus: z.number().int().nullable(),
    latencyMs: z.number().int().nullable(),
    error: z.string().nullable(),
    nextAttemptAt: Instant.nullable(),
    payload: z.record(z.string(), z.unknown()),
    createdAt: Instant,
    completedAt: Instant.nullable(),
  })
  .openapi('WebhookDelivery', {
    example: {
      id: ID,
      eventId: ID,
      event: 'signup',
      status: 'DELIVERED',
      attempts: 1,
      responseStatus: 200,
      latencyMs: 42,
      error: null,
      nextAttemptAt: null,
      payload: { contact: { id: ID, email: 'ada@example.com', subscribed: true, data: {} }, event: { plan: 'pro' } },
      createdAt: AT,
      completedAt: AT,
    },
  });
const Status = z.enum(['PENDING', 'DELIVERED', 'FAILED']);
const DeliveryList = cursorList(Delivery).openapi('WebhookDeliveryList', {
  example: { data: [], cursor: null, hasMore: false, total: 0 },
});
const Replayed = z
  .object({ replayed: z.number().int(), nextSince: Instant.nullable() })
  .openapi('ReplayedDeliveries', { example: { replayed: 12, nextSince: null } });
const ReplayWebhooks = z
  .object({ since: InstantInput, status: Status.optional() })
  .openapi('ReplayWebhooks', { example: { since: AT } });

const security = scopes('workflows:edit');

const createEndpointRoute = createRoute({
  method: 'post',
  path: '/webhooks',
  operationId: 'createWebhook',
  tags,
  summary: 'Register a webhook endpoint',
  description: 'Each event that matches is sent to it, signed by Standard Webhooks. The secret is in this answer only.',
  security,
  request: { body: json(CreateEndpoint) },
  responses: { 201: ok(EndpointWithSecret), ...errors('CONFLICT') },
});

const listRoute = createRoute({
  method: 'get',
  path: '/webhooks',
  operationId: 'listWebhooks',
  tags,
  summary: 'List the webhook endpoints',
  description: 'All of the project, newest first; never a secret, and `***` for a password in a URL.',
  security,
  responses: { 200: ok(z.object({ data: z.array(Endpoint) })) },
});

const getRoute = createRoute({
  method: 'get',
  path: '/webhooks/{id}',
  operationId: 'getWebhook',
  tags,
  summary: 'Get a webhook endpoint',
  description: 'Its status is ACTIVE, DEGRADED after ten failures in a row, or DISABLED.',
  security,
  request: { params: IdParams },
  responses: { 200: ok(Endpoint) },
});

const patchRoute = createRoute({
  method: 'patch',
  path: '/webhooks/{id}',
  operationId: 'updateWebhook',
  tags,
  summary: 'Change, disable or enable a webhook endpoint',
  description:
    'Enabling forgets its failures. What failed meanwhile can be replayed. `***` in `url` keeps the password that is stored.',
  security,
  request: { params: IdParams, body: json(PatchEndpoint) },
  responses: { 200: ok(Endpoint) },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/webhooks/{id}',
  operationId: 'deleteWebhook',
  tags,
  summary: 'Remove a webhook endpoint',
  description: 'With its history of deliveries.',
  security,
  request: { params: IdParams },
  responses: { 204: noContent() },
});

const rotateRoute = createRoute({
  method: 'post',
  path: '/webhooks/{id}/rotate-secret',
  operationId: 'rotateWebhookSecret',
  tags,
  summary: 'Replace the secret of a webhook endpoint',
  description: 'For 24 hours the old secret signs as well, so that a receiver can change over without a gap.',
  security,
  request: { params: IdParams },
  responses: { 200: ok(EndpointWithSecret) },
});

const deliveriesRoute = createRoute({
  method: 'get',
  path: '/webhooks/{id}/deliveries',
  operationId: 'listWebhookDeliveries',
  tags,
  summary: 'List the deliveries to a webhook endpoint',
  description: 'Newest first, with what was sent and how the endpoint answered last.',
  security,
  request: {
    params: IdParams,
    query: cursorQuery(25).extend({ status: Status.optional() }),
  },
  responses: { 200: ok(DeliveryList) },
});

const replayOneRoute = createRoute({
  method: 'post',
  path: '/webhooks/{id}/deliveries/{deliveryId}/replay',
  operationId: 'replayWebhookDelivery',
  tags,
  summary: 'Send a delivery once more',
  description:
    'With the `webhook-id` it had, so that a receiver can tell. One that waits for its next try goes out now.',
  security,
  request: { params: z.object({ id: Id, deliveryId: Id }) },
  responses: { 200: ok(Replayed) },
});

const replayRoute = createRoute({
  method: 'post',
  path: '/webhooks/{id}/replay',
  operationId: 'replayWebhookDeliveries',
  tags,
  summary: 'Send deliveries once more',
  description:
    'All since an instant, or those of one `status`, each with the `webhook-id` it had. 10,000 a call, oldest first: `nextSince` is where ' +
    'the next call goes on, null when none is left.',
  security,
  request: {
    params: IdParams,
    body: json(ReplayWebhooks),
  },
  responses: { 200: ok(Replayed) },
});

export function webhookRoutes(app: App, { config, db, reads, lifecycle }: Deps): void {
  const atRestKey = deriveKey(config.secretKey, 'at-rest');

  app.openapi(createEndpointRoute, async (c) => {
    const { url, events, description } = c.req.valid('json');
    const { projectId } = c.var;
    const endpoint = await inTransaction(db, (trx) =>
      insertEndpoint(trx, { projectId, url, events, description: description ?? null, atRestKey }),
    );
    return c.json({ ...endpointAnswer(endpoint), secret: endpoint.secret }, 201);
  });

  app.openapi(listRoute, async (c) => {
    const endpoints = await listEndpoints(db, c.var.projectId);
    return c.json({ data: endpoints.map(endpointAnswer) }, 200);
  });

  app.openapi(getRoute, async (c) => {
    const { id } = c.req.valid('param');
    return c.json(endpointAnswer(await getEndpoint(db, { projectId: c.var.projectId, id })), 200);
  });

  app.openapi(patchRoute, async (c) => {
    const { id } = c.req.valid('param');
    const change = { projectId: c.var.projectId, id, atRestKey, ...c.req.valid('json') };
    const endpoint = await inTransaction(db, (trx) => updateEndpoint(trx, change));
    return c.json(endpointAnswer(endpoint), 200);
  });

  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param');
    await deleteEndpoint(db, { projectId: c.var.projectId, id });
    return c.body(null, 204);
  });

  app.openapi(rotateRoute, async (c) => {
    const { id } = c.req.valid('param');
    const endpoint = await rotateSecret(db, { projectId: c.var.projectId, id, atRestKey });
    return c.json({ ...endpointAnswer(endpoint), secret: endpoint.secret }, 200);
  });

  app.openapi(deliveriesRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    await getEndpoint(db, ref);
    const { items, ...page } = await listDeliveries(reads, { ...ref, ...c.req.valid('query') });
    return c.json({ data: items.map(deliveryAnswer), ...page }, 200);
  });

  app.openapi(replayOneRoute, async (c) => {
    const { id, deliveryId } = c.req.valid('param');
    const replay = await inTransaction(db, (trx) =>
      replayDeliveries(trx, { projectId: c.var.projectId, id, deliveryId }),
    );
    lifecycle.dispatch(replay.outbox);
    return c.json(replayAnswer(replay), 200);
  });

  app.openapi(replayRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    await getEndpoint(db, ref);
    const replay = await inTransaction(db, (trx) => replayDeliveries(trx, { ...ref, ...c.req.valid('json') }));
    lifecycle.dispatch(replay.outbox);
    return c.json(replayAnswer(replay), 200);
  });
}

function endpointAnswer(endpoint: WebhookEndpoint) {
  const { id, url, events, description, status, disabledReason, failuresInRow } = endpoint;
  return {
    ...{ id, url: maskUrl(url), events, description, status, disabledReason, failuresInRow },
    enabled: status !== 'DISABLED',
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
  };
}

function replayAnswer({ count, nextSince }: Replay) {
  return { replayed: count, nextSince: nextSince?.toISOString() ?? null };
}

function deliveryAnswer(delivery: WebhookDelivery) {
  return {
    ...delivery,
    nextAttemptAt: delivery.nextAttemptAt?.toISOString() ?? null,
    createdAt: delivery.createdAt.toISOString(),
    completedAt: delivery.completedAt?.toISOString() ?? null,
  };
}
