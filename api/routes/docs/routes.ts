import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type OpenAPIHono, z } from '@hono/zod-openapi';
import { AppError } from '../../../rules/errors.ts';
import { API_REFERENCE_STYLE } from '../../../web/api-reference-style.ts';
import { ICON, MARK } from '../../../web/logo.ts';
import type { AppEnv } from '../../http/env.ts';
import { createQueryParser } from '../../http/parse-query.ts';
import type { RouteTable } from '../../http/route-table.ts';
import { createOpenApiDocument, type DocumentPaths } from '../../openapi/document.ts';

/** Files that the page loads. No other file of the package is served. */
const FILES: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

/** The bar above the reference has links to the dashboard and to the OpenAPI document. */
const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tidings API reference</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/theme.css">
<link rel="icon" href="/docs/icon.svg" type="image/svg+xml">
</head>
<body>
<header class="bar"><a class="brand" href="/app">${MARK}Tidings</a><span>API reference</span><a href="/openapi.json?paths=v1">OpenAPI document</a></header>
<div id="swagger-ui"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;
const START = new URL('../../../web/api-reference.js', import.meta.url);
/**
 * Content-Security-Policy of the API reference. It permits style attributes, because Swagger UI sets them, and no
 * untrusted text can get into them. Scripts may come only from this service.
 */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** `?paths=v1` limits the document to paths under `/v1`. */
const parseQuery = createQueryParser(z.object({ paths: z.enum(['v1', 'all'], 'Must be v1 or all').default('all') }));

/** Serves the OpenAPI document at `/openapi.json`, and Swagger UI at `/docs` from files of this service. */
export function registerDocsRoutes(hono: OpenAPIHono<AppEnv>, table: RouteTable): void {
  const documents = new Map<DocumentPaths, string>();
  for (const path of ['/openapi.json', '/docs', '/docs/{file}']) table.add('get', path);
  hono.get('/openapi.json', (c) => {
    c.set('route', '/openapi.json');
    const { paths: which } = parseQuery(c.req.queries());
    // Created on first request, when every route is registered. It never changes after that.
    const document = documents.get(which) ?? JSON.stringify(createOpenApiDocument(hono, which));
    documents.set(which, document);
    return c.body(document, 200, {
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': '*',
    });
  });
  hono.get('/docs', (c) => {
    c.set('route', '/docs');
    return c.body(PAGE, 200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY });
  });
  hono.get('/docs/start.js', async (c) =>
    c.body(await readFile(START, 'utf8'), 200, { 'content-type': 'text/javascript; charset=utf-8' }),
  );
  hono.get('/docs/icon.svg', (c) => c.body(ICON, 200, { 'content-type': 'image/svg+xml' }));
  hono.get('/docs/theme.css', (c) => c.body(API_REFERENCE_STYLE, 200, { 'content-type': 'text/css; charset=utf-8' }));
  hono.get('/docs/:file', async (c) => {
    const type = FILES[c.req.param('file')];
    if (!type) throw new AppError('NOT_FOUND');
    c.set('route', '/docs/{file}');
    const folder = join(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'), '..');
    const bytes = await readFile(join(folder, c.req.param('file')));
    return c.body(new Uint8Array(bytes), 200, { 'content-type': type, 'cache-control': 'public, max-age=86400' });
  });
}
