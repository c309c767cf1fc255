import { z } from '@hono/zod-openapi';
import type { SavedVariant } from '../../../engine/events/storefront.ts';
import { Instant } from '../../http/schemas.ts';

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
    variantId: z.string().openapi({ description: 'Number of the variant, without the prefix `gid://…`' }),
    productTitle: z.string(),
    title: z.string(),
    url: z.string().nullable(),
    available: z.boolean(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('Variant', { example: SAVED_VARIANT });

export const VariantsSaved = z
  .object({
    data: z.array(Variant),
    created: z.number().int(),
    updated: z.number().int(),
    restocked: z.number().int().openapi({
      description:
        'Number of variants that are available again. The service now notifies the contacts that wait for them.',
    }),
  })
  .openapi('VariantsSaved', { example: { data: [SAVED_VARIANT], created: 1, updated: 0, restocked: 0 } });

export function toVariantsResponse(variants: SavedVariant[]) {
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
