import { z } from '@hono/zod-openapi';
import {
  EVENT_NAME_LENGTH,
  findEventNameShapeError,
  PIXEL_PREFIX,
  trimEventName,
} from '../../../rules/events/event-names.ts';
import { checkData } from '../../../rules/filters/data-values.ts';
import { readVariantId, VARIANTS_MAX } from '../../../rules/storefront/storefront.ts';
import { EmailAddress, NullableInstantInput } from '../../http/schemas.ts';

const TITLE_MAX_CHARS = 500;
const URL_MAX_CHARS = 2_000;

/** Maximum number of events in a request to `/v1/pixel`. A page sends only a few events at a time. */
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
  .openapi({
    type: 'string',
    description: 'Id of the variant: its number, or its global id `gid://shopify/ProductVariant/<number>`',
    example: '4711',
  });

const VariantInput = z
  .object({
    // Shop systems also send the id as a number.
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

export const PutVariants = z
  .object({ variants: z.array(VariantInput).min(1).max(VARIANTS_MAX) })
  .openapi('PutVariants', {
    example: { variants: [{ variantId: '4711', productTitle: 'Jumper', title: 'Blue, M', available: false }] },
  });

export const BackInStock = z
  .object({ email: EmailAddress, storefrontVariantId: VariantId })
  .openapi('BackInStock', { example: { email: 'ada@example.com', storefrontVariantId: '4711' } });

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
      .overwrite(trimEventName)
      .min(1, { abort: true })
      .max(PIXEL_NAME_MAX_CHARS, { abort: true })
      .superRefine((name, ctx) => {
        const fault = findEventNameShapeError(name);
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
    timestamp: NullableInstantInput,
  })
  .openapi('PixelEvent', { example: PIXEL_EXAMPLE });

export const Pixel = PixelEventInput.partial()
  .extend({ events: z.array(PixelEventInput).min(1).max(PIXEL_EVENTS_MAX).optional() })
  .superRefine((body, ctx) => {
    if (body.events !== undefined || body.name !== undefined) return;
    ctx.addIssue({ code: 'custom', path: ['name'], message: 'Required', params: { code: 'invalid_type' } });
  })
  .openapi('Pixel', {
    description: 'One event, or `events` with up to 100 events. With `events`, the other fields are ignored.',
    example: { events: [PIXEL_EXAMPLE] },
  });
