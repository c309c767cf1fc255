import { z } from '@hono/zod-openapi';
import type { Suppression } from '../../../db/contacts/suppressions.ts';
import { SUPPRESSION_REASONS } from '../../../rules/emails/reasons.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';

export const SuppressionRecord = z
  .object({
    id: Id,
    email: z.string().nullable().openapi({ description: 'Null after the contact is erased' }),
    reason: z.enum(SUPPRESSION_REASONS),
    source: z.string(),
    actor: z.string().nullable().openapi({
      description:
        'The user, key or person that added the entry: `user:<id>`, `key:<id>`, or `contact` for the person. Null if unknown.',
    }),
    createdAt: Instant,
  })
  .openapi('Suppression', {
    example: {
      id: EXAMPLE_ID,
      email: 'ada@example.com',
      reason: 'manual',
      source: 'api',
      actor: `key:${EXAMPLE_ID}`,
      createdAt: '2026-01-01T12:00:00.000Z',
    },
  });

export function toSuppressionResponse(entry: Suppression) {
  return { ...entry, createdAt: entry.createdAt.toISOString() };
}
