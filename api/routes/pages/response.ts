import type { HtmlPage } from '../../../web/document.ts';
import { NOT_FOUND_PAGE } from '../../../web/not-found.ts';
import type { RequestContext } from '../../http/env.ts';

/**
 * Responds with a hosted page. Its URL contains a token, so the page must not be cached or indexed, and its URL must
 * not be sent as a referrer.
 */
export function respondWithPage(c: RequestContext, page: HtmlPage, status: 200 | 404 | 410 = 200): Response {
  return c.body(page.html, status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': page.contentSecurityPolicy,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex',
  });
}

/** Responds 404 with the page for an invalid link, which is the same for all links. */
export function respondInvalidLink(c: RequestContext): Response {
  return respondWithPage(c, NOT_FOUND_PAGE, 404);
}
