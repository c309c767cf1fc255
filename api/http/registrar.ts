import type { OpenAPIHono, RouteConfig } from '@hono/zod-openapi';
import type { Handler } from 'hono';
import { AppError, type ErrorCode } from '../../rules/errors.ts';
import { UNAUTHENTICATED_WRITES, type UnauthenticatedLimit } from './caller-limits.ts';
import { readClientAddress } from './client-address.ts';
import type { Deps } from './deps.ts';
import type { App, AppEnv, RequestContext } from './env.ts';
import { declaresIdempotencyKey, runOncePerKey, withKeyHeader } from './once-by-key.ts';
import { type CheckedRoute, createRequestChecks, type RouteOptions } from './request-checks.ts';
import { declareErrorResponses } from './responses.ts';
import type { RouteTable } from './route-table.ts';
import { toAccessRule } from './security.ts';

/** Returns the paths at which an operation is served, for the path in its route. The first path is the main path. */
export type PathRule = (path: string) => string[];

/** Serves an operation at its path under `/v1` and at the path without `/v1` (contract §1.3 Paths). */
export const atBothPaths: PathRule = (path) => [`/v1${path}`, path];
/** Serves an operation only at the path in its route. */
export const atOnePath: PathRule = (path) => [path];

/**
 * Creates the object that registers the operations of the API. At every path of `paths`, an operation gets its request
 * checks, an entry in the route table, and a description in the OpenAPI document with all its statuses.
 *
 * `@hono/zod-openapi` provides the types of handlers and the document. Its validators are not used, because they read a
 * body without a limit and ignore unknown fields. `createRequestChecks` validates instead.
 */
export function createRegistrar(hono: OpenAPIHono<AppEnv>, table: RouteTable, deps: Deps, paths: PathRule): App {
  const register = (route: CheckedRoute, handler: Handler<AppEnv>): void => {
    const [mainPath = route.path] = paths(route.path);
    const takesKey = usesRunOncePerKey(route);
    const request = takesKey ? { ...route.request, headers: withKeyHeader(route.request?.headers) } : route.request;
    const rules = { request: `POST ${mainPath}`, shownOnce: route.shownOnce };
    const handle = takesKey ? runOncePerKey(handler, rules, deps) : handler;
    for (const path of paths(route.path)) {
      const routeAtPath = addCommonRemedies({ ...route, path, ...(request && { request }) });
      hono.openAPIRegistry.registerPath(describeOperation(routeAtPath, path === mainPath ? undefined : mainPath));
      table.add(route.method, path);
      hono.on([route.method.toUpperCase()], [toHonoPath(path)], createRequestChecks(routeAtPath, deps), handle);
    }
  };
  return { openapi: register };
}

/** Registers routes outside the API: pages, pixels and callbacks. They have no credentials and no request checks. */
export interface UnauthenticatedRoutes {
  get(path: string, handler: UnauthenticatedHandler, options?: UnauthenticatedOptions): void;
  /**
   * By default, `UNAUTHENTICATED_WRITES` limits the requests of each caller. All routes with this limit share one count
   * for each caller.
   */
  post(path: string, handler: UnauthenticatedHandler, options?: UnauthenticatedOptions): void;
}

type UnauthenticatedHandler = (c: RequestContext) => Promise<Response> | Response;

interface UnauthenticatedOptions {
  /** Limit of the requests of each caller, for a GET that also writes, or instead of `UNAUTHENTICATED_WRITES`. */
  limit?: UnauthenticatedLimit;
  /**
   * A limit that counts only requests that fail with an AppError. Used for callbacks, which prove their origin by a
   * signature: callbacks with a valid signature have no limit.
   */
  refusedLimit?: UnauthenticatedLimit;
  /** The router's pattern. By default, this is the documented path with `:name` instead of `{name}`. */
  pattern?: string;
  /**
   * Further patterns, which match links whose end an email app has cut off. A person who opens such a link gets a page
   * instead of an error.
   */
  cutOffAt?: readonly string[];
}

/**
 * Creates the registrar of routes without credentials. It adds the routes to the route table, and limits the requests
 * to routes that write, by the caller's IP address.
 */
export function createUnauthenticatedRoutes(
  hono: OpenAPIHono<AppEnv>,
  table: RouteTable,
  { limits }: Deps,
): UnauthenticatedRoutes {
  const on = (
    method: 'get' | 'post',
    path: string,
    handler: UnauthenticatedHandler,
    options: UnauthenticatedOptions,
  ): void => {
    const { refusedLimit, limit = method === 'post' && !refusedLimit ? UNAUTHENTICATED_WRITES : undefined } = options;
    table.add(method, path);
    hono.on([method.toUpperCase()], [options.pattern ?? toHonoPath(path), ...(options.cutOffAt ?? [])], async (c) => {
      c.set('route', path);
      if (limit) limits.takeForUnauthenticated(readClientAddress(c), limit);
      try {
        return await handler(c);
      } catch (error) {
        if (refusedLimit && error instanceof AppError)
          limits.takeForUnauthenticated(readClientAddress(c), refusedLimit);
        throw error;
      }
    });
  };
  return {
    get: (path, handler, options = {}) => on('get', path, handler, options),
    post: (path, handler, options = {}) => on('post', path, handler, options),
  };
}

/**
 * Adds the description of a provider callback to the OpenAPI document. Its errors are `codes`, RATE_LIMIT_EXCEEDED and
 * INTERNAL_SERVER_ERROR. A callback is not registered with `createRegistrar`, because its handler verifies a signature
 * over the raw body, which the request checks would read first.
 */
export function describeProviderCallback(hono: OpenAPIHono<AppEnv>, route: RouteConfig, codes: ErrorCode[]): void {
  const errors = declareErrorResponses([...codes, 'RATE_LIMIT_EXCEEDED', 'INTERNAL_SERVER_ERROR'], route.responses);
  hono.openAPIRegistry.registerPath({ ...route, security: [], responses: { ...route.responses, ...errors } });
}

/** Converts a path to the router's syntax: `/contacts/{id}` becomes `/contacts/:id`. */
function toHonoPath(path: string): string {
  return path.replaceAll(/\{(.+?)\}/g, ':$1');
}

/**
 * Returns the description of an operation for the OpenAPI document.
 * @param aliasOf the path under `/v1` of the same operation, if this path is its alias
 */
function describeOperation(route: CheckedRoute, aliasOf: string | undefined): CheckedRoute {
  const operation = omitCheckOptions(route);
  const id = operation.operationId ?? createOperationId({ ...route, path: aliasOf ?? route.path });
  return {
    ...operation,
    tags: operation.tags ?? [createTag(route.path)],
    description: operation.description ?? `${operation.summary ?? ''}.`,
    // The path under `/v1` has the plain operation id, and its unversioned alias gets a suffix.
    operationId: aliasOf === undefined ? id : `${id}Unversioned`,
    ...(aliasOf !== undefined && { 'x-alias-of': id }),
    responses: {
      ...operation.responses,
      ...declareErrorResponses(listImpliedErrorCodes(route), route.responses, listValidationErrorStatuses(route)),
    },
  };
}

/** Returns an operation without the options of the request checks, which OpenAPI does not know. */
function omitCheckOptions(route: CheckedRoute): RouteConfig {
  const checkOptions: Record<keyof RouteOptions | 'middleware' | 'hide', undefined> = {
    invalid: undefined,
    maxBodyBytes: undefined,
    filesAt: undefined,
    unknownFields: undefined,
    record: undefined,
    setElsewhere: undefined,
    stored: undefined,
    anyQuery: undefined,
    insteadOfKey: undefined,
    idempotency: undefined,
    shownOnce: undefined,
    middleware: undefined,
    hide: undefined,
  };
  return Object.fromEntries(Object.entries(route).filter(([name]) => !(name in checkOptions))) as RouteConfig;
}

/**
 * Returns the statuses of VALIDATION_ERROR that an operation may respond with. Errors in the query are 400, and unknown
 * fields are 422. Errors in the body have the status of the route (`invalid`), or 422. Source: contract §1.7 Status
 * codes.
 */
function listValidationErrorStatuses(route: CheckedRoute): number[] {
  const ofQuery = route.anyQuery && !route.request?.query ? [] : [400];
  const ofBody = route.request?.body ? [route.invalid ?? 422] : [];
  const ofUnknownFields = route.unknownFields ? [422] : [];
  return [...new Set([...ofQuery, ...ofBody, ...ofUnknownFields])];
}

/**
 * Adds to `setElsewhere` the unknown fields that no write may ignore: `dryRun`, and `idempotencyKey` if the operation
 * accepts the header. Routes with `anyQuery` are unchanged, because customers' pages may send any field.
 */
function addCommonRemedies(route: CheckedRoute): CheckedRoute {
  if (route.method === 'get' || route.anyQuery) return route;
  const dryRun = 'Unknown field. This operation has no dry run. An operation with a dry run has the field dryRun.';
  const idempotencyKey = declaresIdempotencyKey(route.request?.headers) && 'Send it as the header Idempotency-Key.';
  return { ...route, setElsewhere: { ...route.setElsewhere, dryRun, ...(idempotencyKey && { idempotencyKey }) } };
}

/**
 * Tells whether `runOncePerKey` handles the Idempotency-Key of an operation. This is so for every POST in a project,
 * except for a route with `idempotency: 'none'`, and for a route that declares the header and handles the key itself.
 */
function usesRunOncePerKey(route: CheckedRoute): boolean {
  if (route.method !== 'post' || route.idempotency === 'none' || declaresIdempotencyKey(route.request?.headers))
    return false;
  return toAccessRule(route.security)?.ofProject === true;
}

/** Returns the error codes that an operation may respond with because of its input and its credentials. */
function listImpliedErrorCodes(route: CheckedRoute): ErrorCode[] {
  const { request } = route;
  const rule = toAccessRule(route.security);
  const codes: ErrorCode[] = [];
  if (request?.query || request?.body || request?.headers) codes.push('BAD_REQUEST');
  if (listValidationErrorStatuses(route).length > 0) codes.push('VALIDATION_ERROR');
  if (rule) codes.push('UNAUTHORIZED', 'INVALID_API_KEY');
  if (rule || route.method !== 'get') codes.push('RATE_LIMIT_EXCEEDED');
  if (rule && (rule.session || rule.secretKey?.length)) codes.push('FORBIDDEN');
  if (rule?.ofProject && route.method !== 'get') codes.push('PROJECT_DISABLED');
  if (request?.params) codes.push('NOT_FOUND');
  if (declaresIdempotencyKey(request?.headers)) codes.push('IDEMPOTENCY_KEY_REUSED');
  if (request?.body) codes.push('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  // An operation without input still responds with 400 to malformed HTTP.
  if (codes.length === 0) codes.push('BAD_REQUEST');
  codes.push('INTERNAL_SERVER_ERROR');
  // Operations that query the database respond with this while Postgres restarts.
  if (rule || request?.body) codes.push('SERVICE_UNAVAILABLE');
  return codes;
}

function createOperationId(route: CheckedRoute): string {
  const words = `${route.method}/${route.path}`.split(/[^A-Za-z0-9]+/).filter(Boolean);
  return words.map((word, i) => (i === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('');
}

function createTag(path: string): string {
  const [first = '', second = ''] = path.split('/').filter(Boolean);
  const word = first === 'v1' ? second : first;
  return word.charAt(0).toUpperCase() + word.slice(1);
}
