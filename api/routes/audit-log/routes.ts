import { createRoute } from '@hono/zod-openapi';
import { listAudit } from '../../../db/projects/audit-log.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { jsonResponse } from '../../http/responses.ts';
import { cursorList, cursorQuery } from '../../http/schemas.ts';
import { allowSession } from '../../http/security.ts';
import { AuditEntry } from './response.ts';

const DEFAULT_LIMIT = 20;

const listRoute = createRoute({
  method: 'get',
  path: '/audit-log',
  operationId: 'listAuditLog',
  tags: ['Audit log'],
  summary: 'List the audit log',
  description:
    'Changes to API keys, the project, its holds, its team and its SMS senders, and contacts that were subscribed again, newest first.',
  security: allowSession('apikeys:manage'),
  request: { query: cursorQuery(DEFAULT_LIMIT) },
  responses: { 200: jsonResponse(cursorList(AuditEntry)) },
});

export function registerAuditLogRoutes(app: App, { reads }: Deps): void {
  app.openapi(listRoute, async (c) => {
    const { items, ...page } = await listAudit(reads, { projectId: c.var.projectId, ...c.req.valid('query') });
    const data = items.map((entry) => ({ ...entry, createdAt: entry.createdAt.toISOString() }));
    return c.json({ ...page, data }, 200);
  });
}
