import { redeemSignInLink } from '../../../db/projects/sign-in-links.ts';
import { allowsSignInLinks } from '../../../rules/access/sign-in-link.ts';
import { UNAUTHENTICATED_WRITES } from '../../http/caller-limits.ts';
import type { Deps } from '../../http/deps.ts';
import { isDirectRequest } from '../../http/direct-request.ts';
import type { RequestContext } from '../../http/env.ts';
import type { UnauthenticatedRoutes } from '../../http/registrar.ts';
import { createSessionToken, hashToken, SESSION_DAYS } from '../../http/session-cookie.ts';
import { setSignInCookies } from './sign-in.ts';

/** Tells the sign-in page that the link is no longer valid (dashboard/screens/sign-in). */
const ENDED = '/app/sign-in?link=ended';

/** Headers by which browsers mark prefetches. */
const PREFETCH_HEADERS = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/**
 * Serves the link at the end of the output of `npm start`, which signs in the owner once and opens the dashboard. The
 * link works only on this machine, and only for a request that opens a page. Prefetches, frames, images and HEAD
 * requests do not use up the link. The link is printed only to the console of `npm start`. Anyone who can read this
 * console can also read the files of the home, so no further proof is required.
 */
export function registerSignInLinkRoutes(unauthenticated: UnauthenticatedRoutes, deps: Deps): void {
  if (!allowsSignInLinks(deps.config)) return;
  const followLink = async (c: RequestContext) => {
    c.header('Cache-Control', 'no-store');
    c.header('Referrer-Policy', 'no-referrer');
    // Responds 503, which browsers do not cache, so that the user can still open the link.
    if (!isPageLoad(c)) return c.body(null, 503);
    if (!isDirectRequest(c)) return c.redirect(ENDED, 303);
    const token = createSessionToken();
    const owner = await redeemSignInLink(deps.db, {
      linkHash: hashToken(c.req.param('token') ?? ''),
      sessionHash: hashToken(token),
      days: SESSION_DAYS,
    });
    if (!owner) return c.redirect(ENDED, 303);
    setSignInCookies(c, deps, { token, ...owner });
    return c.redirect('/app', 303);
  };
  unauthenticated.get('/auth/link/{token}', followLink, { limit: UNAUTHENTICATED_WRITES });
}

/**
 * Tells whether the request opens a page. Browsers declare in headers what they request. A request without these
 * headers does not come from a browser, and counts as opening a page.
 */
function isPageLoad(c: RequestContext): boolean {
  const destination = c.req.header('sec-fetch-dest') ?? 'document';
  const isPrefetch = PREFETCH_HEADERS.some((name) => c.req.header(name) !== undefined);
  return c.req.method === 'GET' && destination === 'document' && !isPrefetch;
}
