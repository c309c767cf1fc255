import { createRoute, z } from '@hono/zod-openapi';
import { listAudit } from '../../../db/audit-log.ts';
import { ok } from '../../http/answers.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { cursorList, cursorQuery, Id, Instant } from '../../http/schemas.ts';
import { session } from '../../http/security.ts';

const DEFAULT_LIMIT = 20;

const AuditEntry = z
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
      id: '0190a000-0000-7000-8000-000000000000',
      action: 'apikey.created',
      actor: 'user:0190a000-0000-7000-8000-000000000001',
      target: '0190a000-0000-7000-8000-000000000002',
      ip: '192.0.2.1',
      createdAt: '2026-01-01T12:00:00.000Z',
      details: { name: 'Web shop', scopes: ['email:send'], mode: 'live' },
    },
  });

const listRoute = createRoute({
  method: 'get',
  path: '/audit-log',
  operationId: 'listAuditLog',
  tags: ['Audit log'],
  summary: 'Who did what in the project',
  description: 'Keys made, revoked and rotated, and changes of the project, newest first.',
  security: session('apikeys:manage'),
  request: { query: cursorQuery(DEFAULT_LIMIT) },
  responses: { 200: ok(cursorList(AuditEntry)) },
});

export function auditLogRoutes(app: App, { reads }: Deps): void {
  app.openapi(listRoute, async (c) => {
    const { items, ...page } = await listAudit(reads, { projectId: c.var.projectId, ...c.req.valid('query') });
    const data = items.map((entry) => ({ ...entry, createdAt: entry.createdAt.toISOString() }));
    return c.json({ ...page, data }, 200);
  });
}
