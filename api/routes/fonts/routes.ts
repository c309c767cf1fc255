import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { OpenAPIHono } from '@hono/zod-openapi';
import { AppError } from '../../../rules/errors.ts';
import { FONT_FILES } from '../../../web/fonts.ts';
import type { AppEnv } from '../../http/env.ts';
import type { RouteTable } from '../../http/route-table.ts';

const FILES: ReadonlyMap<string, string> = new Map(Object.entries(FONT_FILES));
/** A later release may change a file, whose address has no hash. */
const CACHING = 'public, max-age=604800';

/**
 * Serves the fonts of the pages outside the dashboard: the pages of links in emails, the mailbox and the API reference.
 * The dashboard has its own copies, and may be switched off.
 */
export function registerFontRoutes(hono: OpenAPIHono<AppEnv>, table: RouteTable): void {
  const resolve = createRequire(import.meta.url).resolve;
  const read = new Map<string, Uint8Array<ArrayBuffer>>();
  table.add('get', '/fonts/{file}');
  hono.get('/fonts/:file', async (c) => {
    c.set('route', '/fonts/{file}');
    const path = FILES.get(c.req.param('file'));
    if (path === undefined) throw new AppError('NOT_FOUND');
    const font = read.get(path) ?? new Uint8Array(await readFile(resolve(path)));
    read.set(path, font);
    return c.body(font, 200, { 'content-type': 'font/woff2', 'cache-control': CACHING });
  });
}
