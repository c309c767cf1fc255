import { createRoute, z } from '@hono/zod-openapi';
import { recordPixelEvents } from '../../../db/pixel-events.ts';
import { type SavedVariant, upsertVariants, waitForVariant } from '../../../db/storefront.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { checkData } from '../../../domain/data-values.ts';
import { EVENT_NAME_LENGTH, eventNameShapeFault, PIXEL_PREFIX } from '../../../domain/event-names.ts';
import { deriveKey } from '../../../domain/secrets.ts';
import { readVariantId, VARIANTS_MAX } from '../../../domain/storefront.ts';
import { errors, json, ok } from '../../http/answers.ts';
import { PUBLIC_MAX_BYTES } from '../../http/body.ts';
import { clientNetwork } from '../../http/client-address.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { EmailAddress, Instant, InstantInput } from '../../http/schemas.ts';
import { publicKey, scopes } from '../../http/security.ts';

const TITLE_MAX_CHARS = 500;
const URL_MAX_CHARS = 2_000;
/** A page reports what happened on it, not a day's log. */
const PIXEL_EVENTS_MAX = 100;
const CLIENT_ID_MAX_CHARS = 255;
const PIXEL_NAME_MAX_CHARS = EVENT_NAME_LENGTH - PIXEL_PREFIX.length;

const VariantId = z
  .string()
  .refine((text) => readVariantId(text) !== undefined, {
    error: 'Must be the number of a variant, or gid://shopify/ProductVariant/ and the number',
    params: { code: 'invalid_string' },
  })
  .transform((text) => readVariantId(text) ?? text)
  .openapi({ type: 'string', description: 'The number, or the full global id', example: '4711' });

const VariantInput = z
  .object({
    // Shop systems hold the number as a number, too.
    variantId: z
      .union([VariantId, z.int().positive().transform(String)])
      .openapi({ anyOf: [{ type: 'string' }, { type: 'integer', minimum: 1 }], example: '4711' }),
    productTitle: z.string().min(1).max(TITLE_MAX_CHARS),
    title: z.string().min(1).max(TITLE_MAX_CHARS),
    url: z
      .string()
      .max(URL_MAX_CHARS)
      .pipe(z.url({ protocol: /^https?$/ }))
      .nullish(),
    available: z.boolean(),
  })
  .openapi('VariantInput', {
    example: {
      variantId: 'gid://shopify/ProductVariant/4711',
      productTitle: 'Jumper',
      title: 'Blue, M',
      url: 'https://shop.example.com/products/jumper?variant=4711',
      available: false,
    },
  });

const PutVariants = z.object({ variants: z.array(VariantInput).min(1).max(VARIANTS_MAX) }).openapi('PutVariants', {
  example: { variants: [{ variantId: '4711', productTitle: 'Jumper', title: 'Blue, M', available: false }] },
});

const SAVED_VARIANT = {
  variantId: '4711',
  productTitle: 'Jumper',
  title: 'Blue, M',
  url: null,
  available: false,
  createdAt: '2026-01-01T12:00:00.000Z',
  updatedAt: '2026-01-01T12:00:00.000Z',
};
const Variant = z
  .object({
    variantId: z.string().openapi({ description: 'The bare number' }),
    productTitle: z.string(),
    title: z.string(),
    url: z.string().nullable(),
    available: z.boolean(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('Variant', { example: SAVED_VARIANT });

const VariantsSaved = z
  .object({
    data: z.array(Variant),
    created: z.number().int(),
    updated: z.number().int(),
    restocked: z
      .number()
      .int()
      .openapi({ description: 'Variants that came back: those who wait for them are being told' }),
  })
  .openapi('VariantsSaved', { example: { data: [SAVED_VARIANT], created: 1, updated: 0, restocked: 0 } });

const putVariants = createRoute({
  method: 'put',
  path: '/storefront/variants',
  operationId: 'putVariants',
  tags: ['Storefront'],
  summary: 'Create or replace product variants',
  description:
    'Up to 500 variants a call. One that goes from unavailable to available starts a durable job that records ' +
    '`shopify.back_in_stock` once on every contact that waits for it.',
  security: scopes('contacts:edit'),
  request: { body: json(PutVariants) },
  responses: { 200: ok(VariantsSaved) },
});

const BackInStock = z
  .object({ email: EmailAddress, storefrontVariantId: VariantId })
  .openapi('BackInStock', { example: { email: 'ada@example.com', storefrontVariantId: '4711' } });

const backInStock = {
  maxBodyBytes: PUBLIC_MAX_BYTES,
  ...createRoute({
    method: 'post',
    path: '/v1/back-in-stock',
    operationId: 'waitForVariant',
    tags: ['Storefront'],
    summary: 'Ask to be told when a variant is back',
    description:
      'Creates the contact unsubscribed if it is new: this is not consent to marketing. `subscribed` is false when the variant is ' +
      'available already. At most 20 requests a minute per caller.',
    security: publicKey(),
    request: { body: json(BackInStock) },
    responses: {
      202: ok(
        z.object({ subscribed: z.boolean() }).openapi('BackInStockAccepted', { example: { subscribed: true } }),
        'Accepted',
      ),
      ...errors('NOT_FOUND', 'RATE_LIMIT_EXCEEDED'),
    },
  }),
  invalid: 400 as const,
};

const PIXEL_EXAMPLE = {
  name: 'product_viewed',
  clientId: 'c5f3a1',
  email: 'ada@example.com',
  data: { productId: '42' },
  timestamp: '2026-01-01T12:00:00.000Z',
};
const PixelEventInput = z
  .object({
    name: z
      .string()
      .min(1)
      .max(PIXEL_NAME_MAX_CHARS)
      .superRefine((name, ctx) => {
        const fault = eventNameShapeFault(PIXEL_PREFIX + name);
        if (fault) ctx.addIssue({ code: 'custom', message: fault.message, params: { code: fault.code } });
      }),
    clientId: z.string().min(1).max(CLIENT_ID_MAX_CHARS).nullish(),
    email: EmailAddress.nullish(),
    data: z
      .record(z.string(), z.unknown())
      .superRefine((data, ctx) => {
        for (const fault of checkData(data)) {
          ctx.addIssue({ code: 'custom', message: fault.message, params: { code: fault.code } });
        }
      })
      .nullish(),
    timestamp: InstantInput.nullish(),
  })
  .openapi('PixelEvent', { example: PIXEL_EXAMPLE });

const Pixel = PixelEventInput.partial()
  .extend({ events: z.array(PixelEventInput).min(1).max(PIXEL_EVENTS_MAX).optional() })
  .superRefine((body, ctx) => {
    if (body.events !== undefined || body.name !== undefined) return;
    ctx.addIssue({ code: 'custom', path: ['name'], message: 'Required', params: { code: 'invalid_type' } });
  })
  .openapi('Pixel', {
    description: 'One event, or `events` with up to 100 of them; with `events`, nothing beside it counts.',
    example: { events: [PIXEL_EXAMPLE] },
  });

const pixel = createRoute({
  maxBodyBytes: PUBLIC_MAX_BYTES,
  method: 'post',
  path: '/v1/pixel',
  operationId: 'recordPixel',
  tags: ['Storefront'],
  summary: 'Record what happened on a storefront page',
  description:
    'Each event is recorded as `pixel.<name>`, on the contact of its `email` where there is one (created unsubscribed if new). ' +
    'All of a request or none is recorded. What the public key sends is plain text wherever it is shown.',
  security: publicKey(),
  request: { body: json(Pixel) },
  responses: {
    202: ok(
      z.object({ accepted: z.number().int() }).openapi('PixelAccepted', { example: { accepted: 1 } }),
      'Accepted',
    ),
    ...errors('RATE_LIMIT_EXCEEDED'),
  },
});

/** What a shop tells the service (contract §10.5). */
export function storefrontRoutes(app: App, { config, db, lifecycle, limits }: Deps): void {
  const suppressionKey = deriveKey(config.secretKey, 'suppression');

  app.openapi(putVariants, async (c) => {
    const { projectId, mode } = c.var;
    const variants = c.req.valid('json').variants.map((variant) => ({ ...variant, url: variant.url ?? null }));
    const saved = await inTransaction(db, (trx) => upsertVariants(trx, { projectId, mode, variants }));
    lifecycle.dispatch(saved.outbox);
    return c.json(variantsAnswer(saved.variants), 200);
  });

  app.openapi(backInStock, async (c) => {
    const { projectId } = c.var;
    await limits.takeForBackInStock(projectId, clientNetwork(c));
    const { email, storefrontVariantId: variantId } = c.req.valid('json');
    if (c.var.actor.kind === 'public') await limits.takeForPublicContact(projectId, email);
    const answer = await inTransaction(db, (trx) =>
      waitForVariant(trx, { projectId, email, variantId, suppressionKey }),
    );
    return c.json(answer, 202);
  });

  app.openapi(pixel, async (c) => {
    const { projectId, mode } = c.var;
    const untrusted = c.var.actor.kind === 'public';
    const events = eventsOf(c.req.valid('json'));
    const emails = untrusted ? new Set(events.flatMap((event) => event.email ?? [])) : [];
    for (const email of emails) await limits.takeForPublicContact(projectId, email);
    const outbox = await inTransaction(db, (trx) =>
      recordPixelEvents(trx, { projectId, events, untrusted, mode, suppressionKey }),
    );
    lifecycle.dispatch(outbox);
    return c.json({ accepted: events.length }, 202);
  });
}

function variantsAnswer(variants: SavedVariant[]) {
  const created = variants.filter((variant) => variant.isNew).length;
  return {
    data: variants.map(({ isNew: _, restocked: __, ...variant }) => ({
      ...variant,
      createdAt: variant.createdAt.toISOString(),
      updatedAt: variant.updatedAt.toISOString(),
    })),
    created,
    updated: variants.length - created,
    restocked: variants.filter((variant) => variant.restocked).length,
  };
}

/** The events of either form of the body, without its nulls. */
function eventsOf({ events, name, ...rest }: z.output<typeof Pixel>) {
  const given = events ?? (name === undefined ? [] : [{ ...rest, name }]);
  return given.map((event) => ({
    name: event.name,
    clientId: event.clientId ?? undefined,
    email: event.email ?? undefined,
    data: event.data ?? undefined,
    timestamp: event.timestamp ?? undefined,
  }));
}
