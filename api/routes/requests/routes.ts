import { createRoute } from '@hono/zod-openapi';
import { findCauseIds } from '../../../db/requests/request-causes.ts';
import { findRequestEffects } from '../../../db/requests/request-effects.ts';
import { getRequest, listRequests } from '../../../db/requests/request-log.ts';
import type { Deps } from '../../http/deps.ts';
import type { App } from '../../http/env.ts';
import { errorResponses, jsonResponse } from '../../http/responses.ts';
import { allowScopes } from '../../http/security.ts';
import { ListRequests, parseStatusRange, RequestParams } from './input.ts';
import { RequestDetail, RequestPage, toRequestResponse } from './response.ts';

const tags = ['Requests'];

const listRoute = createRoute({
  method: 'get',
  path: '/requests',
  operationId: 'listRequests',
  tags,
  summary: 'List API requests',
  description:
    'Lists requests, newest first: all requests with API keys, and changes by users. Bodies, URLs and keys are not logged. A request appears within a second of its response. If a project makes more than 400 requests per second, some are not logged. Entries are kept for `REQUEST_LOG_RETENTION_DAYS`.',
  security: allowScopes('events:view'),
  request: { query: ListRequests },
  responses: { 200: jsonResponse(RequestPage) },
});

const getRoute = createRoute({
  method: 'get',
  path: '/requests/{requestId}',
  operationId: 'getRequest',
  tags,
  summary: 'Get a request and its effects',
  description:
    'Finds the request by the `X-Request-Id` of its response. Returns the contacts, events, executions, emails and SMS that the request created or changed.',
  security: allowScopes('events:view'),
  request: { params: RequestParams },
  responses: { 200: jsonResponse(RequestDetail), ...errorResponses('NOT_FOUND') },
});

export function registerRequestRoutes(app: App, { reads }: Deps): void {
  app.openapi(listRoute, async (c) => {
    const { status, keyId, made, ...filter } = c.req.valid('query');
    const { projectId } = c.var;
    const causes = made && (await findCauseIds(reads, { projectId, id: made.toLowerCase() }));
    const actor = keyId && `key:${keyId.toLowerCase()}`;
    const query = { ...filter, projectId, status: parseStatusRange(status), actor, made: causes || undefined };
    const { items, ...page } = await listRequests(reads, query);
    return c.json({ data: items.map(toRequestResponse), ...page }, 200);
  });

  app.openapi(getRoute, async (c) => {
    const { projectId } = c.var;
    const request = await getRequest(reads, { projectId, requestId: c.req.valid('param').requestId });
    const made = await findRequestEffects(reads, { projectId, made: request.made });
    return c.json({ ...toRequestResponse(request), made }, 200);
  });
}
