import { createRoute, z } from '@hono/zod-openapi';
import { inTransaction } from '../../../db/transaction.ts';
import { recordStorefrontPageEvents } from '../../../engine/events/pixel-events.ts';
import { registerForRestock, upsertVariants } from '../../../engine/events/storefront.ts';
import { deriveKey } from '../../../rules/access/secrets.ts';
import { PUBLIC_MAX_BYTES } from '../../http/body.ts';
import { readClientNetwork } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { noteAffectedRows } from '../../http/request-log.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../http/responses.ts';
import { allowPublicKey, allowScopes } from '../../http/security.ts';
import { BackInStock, Pixel, PutVariants } from './input.ts';
import { toVariantsResponse, VariantsSaved } from './response.ts';

const putVariants = createRoute({
  method: 'put',
  path: '/storefront/variants',
  operationId: 'putVariants',
  tags: ['Storefront'],
  summary: 'Create or replace product variants',
  description:
    'Creates or replaces up to 500 variants. If a variant becomes available again, the service records the event `shopify.back_in_stock` once for each contact that waits for it.',
  security: allowScopes('contacts:edit'),
  request: { body: jsonBody(PutVariants) },
  responses: { 200: jsonResponse(VariantsSaved) },
});

const backInStock = {
  maxBodyBytes: PUBLIC_MAX_BYTES,
  ...createRoute({
    method: 'post',
    path: '/v1/back-in-stock',
    operationId: 'waitForVariant',
    tags: ['Storefront'],
    summary: 'Request a back-in-stock notification',
    description:
      'Records that the contact waits for the variant. If the contact is new, it is created unsubscribed, because this request is not consent to marketing. `subscribed` in the response is false if the variant is already available. A caller can make at most 20 requests per minute.',
    security: allowPublicKey(),
    request: { body: jsonBody(BackInStock) },
    responses: {
      202: jsonResponse(
        z.object({ subscribed: z.boolean() }).openapi('BackInStockAccepted', { example: { subscribed: true } }),
        'Accepted',
      ),
      ...errorResponses('NOT_FOUND', 'RATE_LIMIT_EXCEEDED'),
    },
  }),
  invalid: 400 as const,
};

const pixel = createRoute({
  maxBodyBytes: PUBLIC_MAX_BYTES,
  method: 'post',
  path: '/v1/pixel',
  operationId: 'recordPixel',
  anyQuery: true,
  tags: ['Storefront'],
  summary: 'Record storefront events',
  description:
    'Records each event as `pixel.<name>`. If the event has an `email`, it is recorded for the contact with this address. A new contact is created unsubscribed. All events of a request are recorded, or none. Values that are sent with the public key are shown only as plain text.',
  security: allowPublicKey(),
  request: { body: jsonBody(Pixel) },
  responses: {
    202: jsonResponse(
      z.object({ accepted: z.number().int() }).openapi('PixelAccepted', { example: { accepted: 1 } }),
      'Accepted',
    ),
    ...errorResponses('RATE_LIMIT_EXCEEDED'),
  },
});

/** Registers the operations for a shop (contract §10.5 Back in stock). */
export function registerStorefrontRoutes(app: App, { config, db, outbox, limits }: Deps): void {
  const suppressionKey = deriveKey(config.secretKey, 'suppression');

  app.openapi(putVariants, async (c) => {
    const { projectId, mode } = c.var;
    const variants = c.req.valid('json').variants.map((variant) => ({ ...variant, url: variant.url ?? null }));
    const saved = await inTransaction(db, (trx) => upsertVariants(trx, { projectId, mode, variants }));
    outbox.wake(saved.outbox);
    return c.json(toVariantsResponse(saved.variants), 200);
  });

  app.openapi(backInStock, async (c) => {
    const { projectId } = c.var;
    await limits.takeForBackInStock(projectId, readClientNetwork(c));
    const { email, storefrontVariantId: variantId } = c.req.valid('json');
    if (c.var.actor.kind === 'public') await limits.takeForPublicContact(projectId, email);
    const { subscribed, contactId } = await inTransaction(db, (trx) =>
      registerForRestock(trx, { projectId, email, variantId, suppressionKey }),
    );
    noteAffectedRows(c, { contacts: [contactId] });
    return c.json({ subscribed }, 202);
  });

  app.openapi(pixel, async (c) => {
    const { projectId, mode } = c.var;
    const untrusted = c.var.actor.kind === 'public';
    const events = toEvents(c.req.valid('json'));
    const emails = untrusted ? new Set(events.flatMap((event) => event.email ?? [])) : [];
    for (const email of emails) await limits.takeForPublicContact(projectId, email);
    const { created, outbox: queued } = await inTransaction(db, (trx) =>
      recordStorefrontPageEvents(trx, { projectId, events, untrusted, mode, suppressionKey }),
    );
    outbox.wake(queued);
    noteAffectedRows(c, created);
    return c.json({ accepted: events.length }, 202);
  });
}

/** Returns the events of the body, which has one event or a list. Null becomes undefined. */
function toEvents({ events, name, ...rest }: z.output<typeof Pixel>) {
  const inputs = events ?? (name === undefined ? [] : [{ ...rest, name }]);
  return inputs.map((event) => ({
    name: event.name,
    clientId: event.clientId ?? undefined,
    email: event.email ?? undefined,
    data: event.data ?? undefined,
    timestamp: event.timestamp ?? undefined,
  }));
}
