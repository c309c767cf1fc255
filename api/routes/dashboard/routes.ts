import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Config } from '../../../rules/config.ts';
import { AppError } from '../../../rules/errors.ts';
import type { AppEnv, RequestContext } from '../../http/env.ts';
import type { RouteTable } from '../../http/route-table.ts';
import { type BuiltFile, type BuiltFiles, openBuiltFiles } from './built-files.ts';

/**
 * Content-Security-Policy of the dashboard. Scripts come only from files of this service, never from the page itself.
 * Style attributes are permitted, because components set them, and no untrusted text can get into them. The dashboard
 * shows an email in a sandboxed frame (`srcdoc`), which inherits this policy: scripts of the email do not run, and its
 * styles apply only inside the frame. `https:` images are permitted because emails contain them. The app itself loads
 * no images from other servers.
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
 * Headers of the page. Other pages cannot show the dashboard in a frame, cannot keep a reference to its window, and
 * cannot learn from a referrer which contact a user views.
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
 * Serves the dashboard. `/` redirects to `/app`. The files of the dashboard are under `/app/assets`. Every other
 * address below `/app` returns the same page, because the app has its own router. The API has no paths under `/app`.
 * With `DASHBOARD=off` nothing is served.
 */
export function registerDashboardRoutes(
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
    const file = await files.readPage(c.req.header('accept-encoding'));
    if (!file) throw createDashboardNotBuiltError();
    return respondWithFile(c, file, PAGE_HEADERS);
  };
  get('/', '/', (c) => c.redirect('/app', 302));
  get('/app', '/app', page);
  get('/app/assets/{file}', '/app/assets/:file', async (c) => {
    const file = await files.readAsset(c.req.param('file') ?? '', c.req.header('accept-encoding'));
    // Returns 404 instead of the page, so that the browser recognizes that a file of an earlier release no longer
    // exists.
    if (!file) throw new AppError('NOT_FOUND', { message: 'The dashboard has no such file.' });
    return respondWithFile(c, file, { 'cache-control': ASSET_CACHING });
  });
  get('/app/*', '/app/*', page);
}

/**
 * Responds with a file, or with 304 if the client has the same bytes already. A HEAD is handled like a GET, and the
 * server omits the body.
 */
function respondWithFile(c: RequestContext, file: BuiltFile, headers: Record<string, string>): Response {
  const common = { ...headers, etag: file.etag, vary: 'Accept-Encoding' };
  if (matchesTag(c.req.header('if-none-match'), file.etag)) return c.body(null, 304, common);
  return c.body(file.bytes, 200, {
    ...common,
    'content-type': file.type,
    'content-length': String(file.bytes.length),
    ...(file.encoding && { 'content-encoding': file.encoding }),
  });
}

/**
 * Tells whether `If-None-Match`, which is a list or `*` (RFC 9110 §13.1.2), contains the tag. Weak tags (`W/"…"`) match
 * too, because proxies that compress a response change its tag to a weak tag.
 */
function matchesTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((part) => part.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

function createDashboardNotBuiltError(): AppError {
  return new AppError('NOT_FOUND', {
    message: 'The dashboard is not built here.',
    suggestion: 'Build it with "npm run build", or set DASHBOARD=off.',
  });
}
