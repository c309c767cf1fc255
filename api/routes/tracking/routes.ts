import { isLoopbackHost } from '../../../rules/access/loopback.ts';
import { verifyTrackToken } from '../../../rules/content/link-tokens.ts';
import { type FetchKind, findBotName } from '../../../rules/emails/prefetchers.ts';
import { TRACKED_HITS } from '../../http/caller-limits.ts';
import type { Deps } from '../../http/deps.ts';
import type { RequestContext } from '../../http/env.ts';
import type { UnauthenticatedRoutes } from '../../http/registrar.ts';
import { respondInvalidLink } from '../pages/response.ts';
import { createLinkFinder } from './link-finder.ts';

/** A transparent GIF of one pixel, 43 bytes. */
const PIXEL = new Uint8Array(Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64'));
const NO_STORE = { 'cache-control': 'no-store, private, max-age=0', 'x-robots-tag': 'noindex' };
const OPEN = '/o/{token}.gif';
const CLICK = '/c/{token}/{link}';

/**
 * Serves the pixel and the redirects of tracked emails, whose URLs are signed. The open or click is written to the
 * database after the response, in batches (`deps.engagements`). A click can redirect only to a link of the email,
 * because `link` in the URL is the position of a link in the email's content. Source: contract §9.3 Links,
 * docs/decisions.md.
 */
export function registerTrackingRoutes(unauthenticated: UnauthenticatedRoutes, deps: Deps): void {
  const { config, engagements } = deps;
  const links = createLinkFinder(deps);
  const lenient = isLoopbackHost(new URL(config.publicUrl).hostname);
  const isBot = (c: RequestContext, kind: FetchKind) => findBotName(readFetch(c), kind, { lenient }) !== undefined;

  const open = (c: RequestContext) => {
    const emailId = verifyTrackToken(config.secretKey, (c.req.param('file') ?? '').slice(0, -'.gif'.length));
    if (!emailId) return respondInvalidLink(c);
    engagements.add({ emailId, kind: 'open', at: new Date(), machine: isBot(c, 'open') });
    return c.body(PIXEL, 200, { ...NO_STORE, 'content-type': 'image/gif' });
  };
  const click = async (c: RequestContext) => {
    const emailId = verifyTrackToken(config.secretKey, c.req.param('token') ?? '');
    const index = /^(\d+)(?![\w-])/.exec(c.req.param('link') ?? '')?.[1] ?? '';
    const link = emailId && (await links.find({ emailId, index }));
    if (!link) return respondInvalidLink(c);
    engagements.add({
      emailId,
      kind: 'click',
      at: new Date(),
      machine: isBot(c, 'click'),
      link,
      linkIndex: Number(index),
    });
    return c.body(null, 302, { ...NO_STORE, location: link });
  };
  unauthenticated.get(OPEN, open, { limit: TRACKED_HITS, pattern: '/o/:file{[^/]+\\.gif}' });
  unauthenticated.get(CLICK, click, {
    limit: TRACKED_HITS,
    pattern: '/c/:token/:link{[\\s\\S]+}',
    cutOffAt: ['/c', '/c/', '/c/:token', '/c/:token/'],
  });
}

function readFetch(c: RequestContext) {
  const header = (name: string) => c.req.header(name) ?? '';
  return {
    method: c.req.method,
    userAgent: header('user-agent'),
    purpose: `${header('sec-purpose')} ${header('purpose')} ${header('x-purpose')} ${header('x-moz')}`,
  };
}
