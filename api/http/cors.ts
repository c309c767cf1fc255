import type { MiddlewareHandler } from 'hono';
import type { AppEnv } from './env.ts';

/** Paths that web pages and apps of any origin call with the public key. Source: contract §1.10 Origins and headers. */
const ANY_ORIGIN = new Set(['/v1/track', '/v1/pixel', '/v1/back-in-stock']);
const ALLOWED_HEADERS = 'Authorization, Content-Type, Idempotency-Key, If-Match, X-Request-Id';
const EXPOSED_HEADERS =
  'ETag, X-Request-Id, X-Ignored-Fields, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After';
const PREFLIGHT_SECONDS = 600;

/**
 * Lets pages of other origins call the API: from any origin on routes for the public key, from CORS_ORIGINS on all
 * other routes. Cookies are never allowed.
 */
export function createCors(p: {
  origins: readonly string[];
  listMethods: (path: string) => string[];
}): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const origin = c.req.header('origin');
    if (origin === undefined) return next();
    const allowsAnyOrigin = ANY_ORIGIN.has(c.req.path);
    if (!allowsAnyOrigin) c.header('Vary', 'Origin');
    if (allowsAnyOrigin || p.origins.includes(origin)) {
      c.header('Access-Control-Allow-Origin', allowsAnyOrigin ? '*' : origin);
      c.header('Access-Control-Expose-Headers', EXPOSED_HEADERS);
    }
    if (c.req.method !== 'OPTIONS' || c.req.header('access-control-request-method') === undefined) return next();
    c.header('Access-Control-Allow-Methods', p.listMethods(c.req.path).join(', '));
    c.header('Access-Control-Allow-Headers', ALLOWED_HEADERS);
    c.header('Access-Control-Max-Age', String(PREFLIGHT_SECONDS));
    return c.body(null, 204);
  };
}
