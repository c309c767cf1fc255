import type { OpenAPIHono } from '@hono/zod-openapi';
import { verifyTrackToken } from '../../domain/link-tokens.ts';
import { isLoopbackHost } from '../../domain/loopback.ts';
import { type FetchKind, machineBehind } from '../../domain/prefetchers.ts';
import type { Deps } from '../deps.ts';
import type { AppEnv, RequestContext } from '../env.ts';
import { createLinkFinder } from '../link-finder.ts';
import { answerNoSuchLink } from '../page-answer.ts';
import type { RouteTable } from '../route-table.ts';

/** A transparent GIF of one pixel, 43 bytes. */
const PIXEL = new Uint8Array(Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64'));
const NO_STORE = { 'cache-control': 'no-store, private, max-age=0', 'x-robots-tag': 'noindex' };
const OPEN = '/o/{token}.gif';
const CLICK = '/c/{token}/{link}';

/**
 * The open pixel and the signed redirects of tracked mail. They answer first and count afterwards, in batches (`deps.engagements`). A click
 * leads only where the mail's own content does: `link` is an index into its links. Source: decisions §9, performance.md §1.
 */
export function trackingRoutes(hono: OpenAPIHono<AppEnv>, table: RouteTable, deps: Deps): void {
  const { config, engagements } = deps;
  const links = createLinkFinder(deps);
  const lenient = isLoopbackHost(new URL(config.publicUrl).hostname);
  const isMachine = (c: RequestContext, kind: FetchKind) => machineBehind(fetchOf(c), kind, { lenient }) !== undefined;
  table.add('get', OPEN);
  table.add('get', CLICK);

  hono.get('/o/:file{[^/]+\\.gif}', (c) => {
    c.set('route', OPEN);
    const emailId = verifyTrackToken(config.secretKey, c.req.param('file').slice(0, -'.gif'.length));
    if (!emailId) return answerNoSuchLink(c);
    engagements.add({ emailId, kind: 'open', at: new Date(), machine: isMachine(c, 'open') });
    return c.body(PIXEL, 200, { ...NO_STORE, 'content-type': 'image/gif' });
  });

  hono.get('/c/:token/:link', async (c) => {
    c.set('route', CLICK);
    const emailId = verifyTrackToken(config.secretKey, c.req.param('token'));
    const link = emailId && (await links.find({ emailId, index: c.req.param('link') }));
    if (!link) return answerNoSuchLink(c);
    engagements.add({ emailId, kind: 'click', at: new Date(), machine: isMachine(c, 'click'), link });
    return c.body(null, 302, { ...NO_STORE, location: link });
  });
}

function fetchOf(c: RequestContext) {
  const header = (name: string) => c.req.header(name) ?? '';
  return {
    method: c.req.method,
    userAgent: header('user-agent'),
    purpose: `${header('sec-purpose')} ${header('purpose')} ${header('x-purpose')} ${header('x-moz')}`,
  };
}
