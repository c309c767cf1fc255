import { createRoute, z } from '@hono/zod-openapi';
import { findPrivateHostReason } from '../../../channels/public-address.ts';
import { truncateLists } from '../../../db/page-budget.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { listDeliveries, replayDeliveries } from '../../../db/webhooks/deliveries.ts';
import {
  deleteEndpoint,
  getEndpoint,
  insertEndpoint,
  listEndpoints,
  rotateSecret,
  updateEndpoint,
} from '../../../db/webhooks/endpoints.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { createFieldError } from '../../../rules/errors.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { emptyResponse, errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { cursorQuery, Id, IdParams, TruncatedLists } from '../../http/schemas.ts';
import { allowScopes } from '../../http/security.ts';
import { createStoredFields } from '../../http/stored-fields.ts';
import { CreateEndpoint, PatchEndpoint, ReplayWebhooks, Status } from './input.ts';
import {
  DeliveryList,
  Endpoint,
  EndpointWithSecret,
  Replayed,
  toDeliveryResponse,
  toEndpointResponse,
  toReplayResponse,
} from './response.ts';

const tags = ['Webhooks'];

const security = allowScopes('workflows:edit');

const createEndpointRoute = createRoute({
  method: 'post',
  path: '/webhooks',
  operationId: 'createWebhook',
  shownOnce: ['secret'],
  tags,
  summary: 'Create a webhook endpoint',
  description:
    'Creates an endpoint that receives all events that match `events`. Requests are signed as Standard Webhooks. The secret is returned only once. A private address in `url` returns 422, unless the operator of the service allows private addresses.',
  security,
  request: { body: jsonBody(CreateEndpoint) },
  responses: { 201: jsonResponse(EndpointWithSecret), ...errorResponses('CONFLICT') },
});

const listRoute = createRoute({
  method: 'get',
  path: '/webhooks',
  operationId: 'listWebhooks',
  tags,
  summary: 'List the webhook endpoints',
  description:
    'Lists all endpoints of the project, newest first. Secrets are never returned, and `***` replaces a password in a URL.',
  security,
  responses: { 200: jsonResponse(z.object({ data: z.array(Endpoint), truncated: TruncatedLists })) },
});

const getRoute = createRoute({
  method: 'get',
  path: '/webhooks/{id}',
  operationId: 'getWebhook',
  tags,
  summary: 'Get a webhook endpoint',
  description: 'Returns the endpoint. Its status is ACTIVE, DEGRADED (after ten failures in a row) or DISABLED.',
  security,
  request: { params: IdParams },
  responses: { 200: jsonResponse(Endpoint) },
});

const patchRoute = createRoute({
  method: 'patch',
  path: '/webhooks/{id}',
  operationId: 'updateWebhook',
  tags,
  summary: 'Update a webhook endpoint',
  description:
    'Updates the fields of the request. Enabling a disabled endpoint resets its count of failures. To send failed deliveries again, replay them. `***` in `url` keeps the stored password.',
  security,
  stored: createStoredFields(({ db }, ref) => getEndpoint(db, ref).then(toEndpointResponse)),
  request: { params: IdParams, body: jsonBody(PatchEndpoint) },
  responses: { 200: jsonResponse(Endpoint) },
});

const deleteRoute = createRoute({
  method: 'delete',
  path: '/webhooks/{id}',
  operationId: 'deleteWebhook',
  tags,
  summary: 'Delete a webhook endpoint',
  description: 'Deletes the endpoint and the history of its deliveries.',
  security,
  request: { params: IdParams },
  responses: { 204: emptyResponse() },
});

const rotateRoute = createRoute({
  method: 'post',
  path: '/webhooks/{id}/rotate-secret',
  operationId: 'rotateWebhookSecret',
  shownOnce: ['secret'],
  tags,
  summary: 'Rotate the secret of a webhook endpoint',
  description:
    'Creates a new secret. For 24 hours, deliveries are signed with both secrets, so that your server accepts all of them while you replace the secret.',
  security,
  request: { params: IdParams },
  responses: { 200: jsonResponse(EndpointWithSecret) },
});

const deliveriesRoute = createRoute({
  method: 'get',
  path: '/webhooks/{id}/deliveries',
  operationId: 'listWebhookDeliveries',
  tags,
  summary: 'List the deliveries to a webhook endpoint',
  description:
    'Lists deliveries, newest first, with the payload, and with the status, the duration and the first KB of the last response.',
  security,
  request: {
    params: IdParams,
    query: cursorQuery(25).extend({ status: Status.optional() }),
  },
  responses: { 200: jsonResponse(DeliveryList) },
});

const replayOneRoute = createRoute({
  method: 'post',
  path: '/webhooks/{id}/deliveries/{deliveryId}/replay',
  operationId: 'replayWebhookDelivery',
  tags,
  summary: 'Replay a delivery',
  description:
    'Sends a delivery again, with the same `webhook-id`, so that your server can recognize the repetition. A delivery that waits for its next attempt is sent now.',
  security,
  request: { params: z.object({ id: Id, deliveryId: Id }) },
  responses: { 200: jsonResponse(Replayed) },
});

const replayRoute = createRoute({
  method: 'post',
  path: '/webhooks/{id}/replay',
  operationId: 'replayWebhookDeliveries',
  tags,
  summary: 'Replay deliveries',
  description:
    'Sends all deliveries since a point in time again, or only deliveries with this `status`. Each keeps its `webhook-id`. A request replays at most 10,000 deliveries, oldest first. To continue, send `nextSince` of the response as `since` of the next request, until it is null.',
  security,
  request: {
    params: IdParams,
    body: jsonBody(ReplayWebhooks),
  },
  responses: { 200: jsonResponse(Replayed) },
});

export function registerWebhookRoutes(app: App, { config, db, reads, outbox }: Deps): void {
  const atRestKey = deriveKey(config.secretKey, 'at-rest');

  /**
   * Refuses a URL with a private host, because deliveries would never call it. A delivery also checks the IP address to
   * which the host name resolves.
   */
  function refusePrivateHost(url: string): void {
    const reason = config.webhookAllowPrivate ? undefined : findPrivateHostReason(new URL(url));
    if (reason === undefined) return;
    const message = `${reason}, so no event would be delivered. Use a public URL. For development, WEBHOOK_ALLOW_PRIVATE=true allows private addresses.`;
    throw createFieldError('url', message);
  }

  app.openapi(createEndpointRoute, async (c) => {
    const { url, events, description, enabled } = c.req.valid('json');
    const { projectId } = c.var;
    refusePrivateHost(url);
    const { secret, ...endpoint } = await inTransaction(db, async (trx) => {
      const created = await insertEndpoint(trx, {
        projectId,
        url,
        events,
        description: description ?? null,
        atRestKey,
      });
      if (enabled !== false) return created;
      return { ...created, ...(await updateEndpoint(trx, { projectId, id: created.id, atRestKey, enabled })) };
    });
    return c.json({ ...toEndpointResponse(endpoint), secret }, 201);
  });

  app.openapi(listRoute, async (c) => {
    const endpoints = await listEndpoints(db, c.var.projectId);
    return c.json(truncateLists({ data: endpoints.map(toEndpointResponse) }), 200);
  });

  app.openapi(getRoute, async (c) => {
    const { id } = c.req.valid('param');
    return c.json(toEndpointResponse(await getEndpoint(db, { projectId: c.var.projectId, id })), 200);
  });

  app.openapi(patchRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    const changes = c.req.valid('json');
    const { url } = changes;
    // Accepts an unchanged private URL. An earlier release may have stored it, and it must still be possible to change
    // the other fields of such an endpoint, for example to disable the endpoint.
    if (url !== undefined && (await getEndpoint(db, ref)).url !== url) refusePrivateHost(url);
    const change = { ...ref, atRestKey, ...changes };
    const endpoint = await inTransaction(db, (trx) => updateEndpoint(trx, change));
    return c.json(toEndpointResponse(endpoint), 200);
  });

  app.openapi(deleteRoute, async (c) => {
    const { id } = c.req.valid('param');
    await inTransaction(db, (trx) => deleteEndpoint(trx, { projectId: c.var.projectId, id }));
    return c.body(null, 204);
  });

  app.openapi(rotateRoute, async (c) => {
    const { id } = c.req.valid('param');
    const endpoint = await rotateSecret(db, { projectId: c.var.projectId, id, atRestKey });
    return c.json({ ...toEndpointResponse(endpoint), secret: endpoint.secret }, 200);
  });

  app.openapi(deliveriesRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    await getEndpoint(db, ref);
    const { items, ...page } = await listDeliveries(reads, { ...ref, ...c.req.valid('query') });
    return c.json({ data: items.map(toDeliveryResponse), ...page }, 200);
  });

  app.openapi(replayOneRoute, async (c) => {
    const { id, deliveryId } = c.req.valid('param');
    const replay = await inTransaction(db, (trx) =>
      replayDeliveries(trx, { projectId: c.var.projectId, id, deliveryId }),
    );
    outbox.wake(replay.outbox);
    return c.json(toReplayResponse(replay), 200);
  });

  app.openapi(replayRoute, async (c) => {
    const ref = { projectId: c.var.projectId, id: c.req.valid('param').id };
    await getEndpoint(db, ref);
    const replay = await inTransaction(db, (trx) => replayDeliveries(trx, { ...ref, ...c.req.valid('json') }));
    outbox.wake(replay.outbox);
    return c.json(toReplayResponse(replay), 200);
  });
}
