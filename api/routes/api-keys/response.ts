import { z } from '@hono/zod-openapi';
import type { ApiKey } from '../../../db/projects/api-keys.ts';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';
import { Mode } from './input.ts';

const EXAMPLE = {
  id: EXAMPLE_ID,
  name: 'Web shop',
  prefix: 'sk_live_3f9a1c',
  scopes: ['email:send', 'contacts:edit'],
  mode: 'live' as const,
  expiresAt: null,
  revokedAt: null,
  lastUsedAt: '2026-01-01T12:00:00.000Z',
  createdAt: '2026-01-01T12:00:00.000Z',
  updatedAt: '2026-01-01T12:00:00.000Z',
};

export const ApiKeyRecord = z
  .object({
    id: Id,
    name: z.string(),
    prefix: z.string(),
    scopes: z.array(z.string()),
    mode: Mode,
    expiresAt: Instant.nullable(),
    revokedAt: Instant.nullable(),
    lastUsedAt: Instant.nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .openapi('ApiKey', { example: EXAMPLE });

export const CreatedApiKey = ApiKeyRecord.extend({ key: z.string() }).openapi('CreatedApiKey', {
  description: '`key` is returned only once; the service stores only its hash.',
  example: { ...EXAMPLE, key: `${EXAMPLE.prefix}${'0'.repeat(58)}` },
});

export function toApiKeyResponse(key: ApiKey) {
  return {
    ...key,
    expiresAt: key.expiresAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    createdAt: key.createdAt.toISOString(),
    // Only a revocation counts as a change of a key.
    updatedAt: (key.revokedAt ?? key.createdAt).toISOString(),
  };
}
