import { z } from '@hono/zod-openapi';
import type { Topic } from '../../../db/topics/topics.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';

export const TopicRecord = z
  .object({
    id: Id,
    name: z.string(),
    slug: z.string(),
    description: z.string().nullable(),
    defaultSubscribed: z.boolean(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('Topic', {
    example: {
      id: EXAMPLE_ID,
      name: 'Product news',
      slug: 'product-news',
      description: 'News about the product, once a month',
      defaultSubscribed: true,
      createdAt: '2026-01-01T12:00:00.000Z',
      updatedAt: '2026-01-01T12:00:00.000Z',
    },
  });

export function toTopicResponse({ createdAt, updatedAt, ...topic }: Topic): z.infer<typeof TopicRecord> {
  return { ...topic, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() };
}
