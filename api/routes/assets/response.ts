import { z } from '@hono/zod-openapi';
import type { Asset } from '../../../db/assets/assets.ts';
import { IMAGE_TYPES } from '../../../rules/assets/image.ts';
import { cursorList, EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';

const HASH = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

export const AssetRecord = z
  .object({
    id: Id,
    url: z.string().openapi({ description: 'URL of the image. It always returns the same bytes.' }),
    hash: z.string(),
    filename: z.string().nullable(),
    contentType: z.enum(IMAGE_TYPES),
    bytes: z.number().int(),
    width: z.number().int().openapi({ description: 'In pixels' }),
    height: z.number().int(),
    used: z.boolean().openapi({ description: 'Whether the image is used anywhere' }),
    usedBy: z.object({ templates: z.number().int(), campaigns: z.number().int(), sent: z.boolean() }).openapi({
      description: 'Number of templates and campaigns that use the image, and whether an accepted email uses it',
    }),
    createdAt: Instant,
  })
  .openapi('Asset', {
    example: {
      id: EXAMPLE_ID,
      url: `https://mail.example.com/assets/${HASH}`,
      hash: HASH,
      filename: 'header.png',
      contentType: 'image/png',
      bytes: 48213,
      width: 1200,
      height: 400,
      used: true,
      usedBy: { templates: 1, campaigns: 0, sent: false },
      createdAt: '2026-01-01T12:00:00.000Z',
    },
  });

export const AssetList = cursorList(AssetRecord)
  .extend({ bytes: z.number().int(), maxBytes: z.number().int() })
  .openapi('AssetList', { description: "`bytes` is the total size of the project's images; `maxBytes` is the limit." });

/** @param publicUrl without a slash at its end */
export function toAssetResponse({ templates, campaigns, sent, ...asset }: Asset, publicUrl: string) {
  return {
    ...asset,
    url: `${publicUrl}/assets/${asset.hash}`,
    used: templates > 0 || campaigns > 0 || sent,
    usedBy: { templates, campaigns, sent },
    createdAt: asset.createdAt.toISOString(),
  };
}
