import { randomUUID } from 'node:crypto';
import { OpenAPIHono } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { createTrustedProxies } from '../../rules/access/caller-address.ts';
import { AppError } from '../../rules/errors.ts';
import { redact } from '../../rules/failure-text.ts';
import { registerWebhooks } from '../openapi/webhooks.ts';
import { registerRoutes } from '../routes/register.ts';
import { createCors } from './cors.ts';
import type { Deps } from './deps.ts';
import type { AppEnv } from './env.ts';
import { createErrorHandler, createMethodNotAllowedError, respondWithError } from './error-handler.ts';
import { createHostCheck } from './host-check.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { withJoinableTransactions } from './once-by-key.ts';
import { atBothPaths, atOnePath, createRegistrar, createUnauthenticatedRoutes } from './registrar.ts';
import { createLogEntry } from './request-log.ts';
import { createRouteTable, type RouteTable } from './route-table.ts';

/**
 * Creates the HTTP application: every route of `api/routes/register.ts` behind request ids, logs, the check of `Host`,
 * CORS and the error envelope.
 */
export function createApp(deps: Deps, metrics: Metrics = createMetrics()): OpenAPIHono<AppEnv> {
  const table = createRouteTable();
  const hono = new OpenAPIHono<AppEnv>();
  hono.onError(createErrorHandler(deps.log, table));
  hono.notFound((c) => {
    const allowed = table.listMethods(c.req.path);
    return respondWithError(
      c,
      allowed.length === 0
        ? describeUnknownPath(table, c.req)
        : createMethodNotAllowedError(allowed, table.findEquivalent(c.req.method, c.req.path)),
    );
  });
  hono.use(observeRequests(deps, metrics));
  hono.use(createHostCheck(deps.config));
  hono.use(createCors({ origins: deps.config.corsOrigins, listMethods: table.listMethods }));
  registerWebhooks(hono);
  registerRoutes(
    {
      hono,
      table,
      unauthenticated: createUnauthenticatedRoutes(hono, table, deps),
      bothPaths: createRegistrar(hono, table, deps, atBothPaths),
      onePath: createRegistrar(hono, table, deps, atOnePath),
    },
    withJoinableTransactions(deps),
  );
  return hono;
}

function describeUnknownPath(table: RouteTable, { method, path }: { method: string; path: string }): AppError {
  const nearest = table.findEquivalent(method, path) ?? table.findNearestPath(path);
  return new AppError('NOT_FOUND', {
    message: 'This path does not exist.',
    suggestion: nearest ? `Did you mean ${nearest}?` : 'See /docs for all operations and their paths.',
  });
}

/**
 * Gives each request an id. After the handler, writes one log line, updates the metrics and adds the request to the
 * project's request log. All of them name the route and never the URL.
 */
function observeRequests(deps: Deps, metrics: Metrics): MiddlewareHandler<AppEnv> {
  // pino would search each line for private fields, which costs 9 µs. This line contains no private field.
  const log = deps.log.child({}, { redact: [] });
  const proxies = createTrustedProxies(deps.config.trustedProxies);
  return async (c, next) => {
    const startedMs = performance.now();
    const requestId = chooseRequestId(c.req.header('x-request-id'));
    c.set('requestId', requestId);
    c.set('proxies', proxies);
    c.header('X-Request-Id', requestId);
    c.header('X-Content-Type-Options', 'nosniff');
    await next();
    const ms = performance.now() - startedMs;
    const [method, route, status] = [c.req.method, c.get('route') ?? 'none', c.res.status];
    metrics.observe({ method, route, status, ms });
    const entry = createLogEntry(c, { requestId, route, status, ms });
    if (entry) deps.requests.add(entry);
    log.info(
      {
        requestId: redact(requestId),
        method,
        route,
        status,
        ms: Math.round(ms * 10) / 10,
        projectId: c.get('projectId'),
      },
      'request',
    );
  };
}

/**
 * Returns the caller's `X-Request-Id` if it is 1-128 printable ASCII characters, otherwise a new id. Source: contract
 * §1.2 Request ids.
 */
function chooseRequestId(fromCaller: string | undefined): string {
  return fromCaller !== undefined && /^[\x20-\x7e]{1,128}$/.test(fromCaller) ? fromCaller : randomUUID();
}
