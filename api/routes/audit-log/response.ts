import { z } from '@hono/zod-openapi';
import { EXAMPLE_ID, Id, Instant } from '../../http/schemas.ts';

export const AuditEntry = z
  .object({
    id: Id,
    action: z.string(),
    actor: z.string(),
    target: z.string().nullable(),
    ip: z.string().nullable(),
    createdAt: Instant,
    details: z.record(z.string(), z.unknown()),
  })
  .openapi('AuditEntry', {
    example: {
      id: EXAMPLE_ID,
      action: 'apikey.created',
      actor: 'user:0190a000-0000-7000-8000-000000000001',
      target: '0190a000-0000-7000-8000-000000000002',
      ip: '192.0.2.1',
      createdAt: '2026-01-01T12:00:00.000Z',
      details: { name: 'Web shop', scopes: ['email:send'], mode: 'live' },
    },
  });
