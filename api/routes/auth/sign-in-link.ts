import { takeSignInLink } from '../../../db/projects/sign-in-links.ts';
import { allowsSignInLinks } from '../../../rules/access/sign-in-link.ts';
import { UNAUTHENTICATED_WRITES } from '../../http/caller-limits.ts';
import type { Deps } from '../../http/deps.ts';
import type { RequestContext } from '../../http/env.ts';
import { isFromHere } from '../../http/from-here.ts';
import type { UnauthenticatedRoutes } from '../../http/registrar.ts';
import { hashToken, newSessionToken, SESSION_DAYS } from '../../http/session-cookie.ts';
import { setSignInCookies } from './sign-in.ts';

/** Tells the sign-in page that the link is no longer valid (dashboard/screens/sign-in). */
const ENDED = '/app/sign-in?link=ended';

/** Headers by which browsers mark prefetches. */
const AHEAD = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/**
 * Handles the link at the end of `npm start`: signs in the owner once and opens the dashboard. It works on this
 * machine only, and only for a request that opens a page. Prefetches, frames, images and HEAD requests do not use it
 * up. Anyone with the link could also open the home that it was printed for, so it needs no other proof.
 */
export function signInLinkRoutes(unauthenticated: UnauthenticatedRoutes, deps: Deps): void {
  if (!allowsSignInLinks(deps.config)) return;
  const follow = async (c: RequestContext) => {
    c.header('Cache-Control', 'no-store');
    c.header('Referrer-Policy', 'no-referrer');
    // Responds 503, which browsers do not cache, so that the user can still open the link.
    if (!isOpened(c)) return c.body(null, 503);
    if (!isFromHere(c)) return c.redirect(ENDED, 303);
    const token = newSessionToken();
    const person = await takeSignInLink(deps.db, {
      linkHash: hashToken(c.req.param('token') ?? ''),
      sessionHash: hashToken(token),
      days: SESSION_DAYS,
    });
    if (!person) return c.redirect(ENDED, 303);
    setSignInCookies(c, deps, { token, ...person });
    return c.redirect('/app', 303);
  };
  unauthenticated.get('/auth/link/{token}', follow, { limit: UNAUTHENTICATED_WRITES });
}

/**
 * Tells whether the request opens a page. Browsers declare the purpose of a request, and a request without one does
 * not come from a browser.
 */
function isOpened(c: RequestContext): boolean {
  const destination = c.req.header('sec-fetch-dest') ?? 'document';
  const ahead = AHEAD.some((name) => c.req.header(name) !== undefined);
  return c.req.method === 'GET' && destination === 'document' && !ahead;
}
