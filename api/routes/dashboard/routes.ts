import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Config } from '../../../rules/config.ts';
import { AppError } from '../../../rules/errors.ts';
import type { AppEnv, RequestContext } from '../../http/env.ts';
import type { RouteTable } from '../../http/route-table.ts';
import { type BuiltFile, type BuiltFiles, openBuiltFiles } from './built-files.ts';

/**
 * Content security policy of the dashboard. Scripts come only from files of this service, never from the page itself.
 * Components set style attributes, which no untrusted text reaches. An email is shown in a sandboxed frame by
 * `srcdoc`, which inherits this policy: its scripts do not run, and its styles stay inside the frame. Its images are
 * the reason for `https:` among the image sources. The app itself loads no images from elsewhere.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob: https:",
  "connect-src 'self'",
  "font-src 'self'",
  "frame-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join('; ');

/**
 * No other page can frame it, open it with a reference to its window, or learn from a referrer which contact is
 * viewed.
 */
const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'x-robots-tag': 'noindex',
  'cache-control': 'no-cache',
};

/** The names of assets contain a hash of their content, so a file never changes. */
const ASSET_CACHING = 'public, max-age=31536000, immutable';

/**
 * Serves the dashboard. `/` redirects to `/app`, every address below `/app` returns the same page (the app has its
 * own router), and its files are under `/app/assets`. The API has no paths under `/app`, so the two never conflict.
 * With `DASHBOARD=off` nothing is served.
 */
export function dashboardRoutes(
  hono: OpenAPIHono<AppEnv>,
  table: RouteTable,
  { config, files = openBuiltFiles() }: { config: Pick<Config, 'dashboard'>; files?: BuiltFiles },
): void {
  if (!config.dashboard) return;
  const get = (path: string, pattern: string, handler: (c: RequestContext) => Promise<Response> | Response) => {
    table.add('get', path);
    hono.get(pattern, (c) => {
      c.set('route', path);
      return handler(c);
    });
  };
  const page = async (c: RequestContext) => {
    const file = await files.page(c.req.header('accept-encoding'));
    if (!file) throw notBuilt();
    return respondWithFile(c, file, PAGE_HEADERS);
  };
  get('/', '/', (c) => c.redirect('/app', 302));
  get('/app', '/app', page);
  get('/app/assets/{file}', '/app/assets/:file', async (c) => {
    const file = await files.asset(c.req.param('file') ?? '', c.req.header('accept-encoding'));
    // Does not return the page: a missing chunk of an earlier release must fail as a missing file.
    if (!file) throw new AppError('NOT_FOUND', { message: 'The dashboard has no such file.' });
    return respondWithFile(c, file, { 'cache-control': ASSET_CACHING });
  });
  get('/app/*', '/app/*', page);
}

/** Responds 304 if the client has these bytes already. A HEAD is handled like a GET, and the server omits the body. */
function respondWithFile(c: RequestContext, file: BuiltFile, headers: Record<string, string>): Response {
  const common = { ...headers, etag: file.etag, vary: 'Accept-Encoding' };
  if (hasAlready(c.req.header('if-none-match'), file.etag)) return c.body(null, 304, common);
  return c.body(file.bytes, 200, {
    ...common,
    'content-type': file.type,
    'content-length': String(file.bytes.length),
    ...(file.encoding && { 'content-encoding': file.encoding }),
  });
}

/**
 * Tells whether `If-None-Match` contains the tag. It is a list or `*` (RFC 9110 §13.1.2). Weak tags count, because
 * proxies that compress a response weaken its tag.
 */
function hasAlready(header: string | undefined, etag: string): boolean {
  const given = (header ?? '').split(',').map((part) => part.trim().replace(/^W\//, ''));
  return given.includes(etag) || given.includes('*');
}

function notBuilt(): AppError {
  return new AppError('NOT_FOUND', {
    message: 'The dashboard is not built here.',
    suggestion: 'Build it with "npm run build", or set DASHBOARD=off.',
  });
}
