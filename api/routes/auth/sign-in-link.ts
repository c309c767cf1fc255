import { takeSignInLink } from '../../../db/projects/sign-in-links.ts';
import { allowsSignInLinks } from '../../../rules/access/sign-in-link.ts';
import { OPEN_WRITES } from '../../http/caller-limits.ts';
import type { Deps } from '../../http/deps.ts';
import type { RequestContext } from '../../http/env.ts';
import { isFromHere } from '../../http/from-here.ts';
import type { OpenRoutes } from '../../http/registrar.ts';
import { hashToken, newSessionToken, SESSION_DAYS } from '../../http/session-cookie.ts';
import { giveSession } from './sign-in.ts';

/** What the sign-in page says of a link that did not sign in (dashboard/screens/sign-in). */
const ENDED = '/app/sign-in?link=ended';

/** How browsers mark what they fetch before anybody asked for it. */
const AHEAD = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/**
 * The link at the end of `npm start`: signs the owner in once and leads to the dashboard. It is followed on this
 * machine only, by somebody who opens it as a page: what a browser fetches ahead, a frame, an image or a HEAD leaves it
 * as it is. Whoever has the link could as well open the home that it was printed for, so it needs no proof besides.
 */
export function signInLinkRoutes(openly: OpenRoutes, deps: Deps): void {
  if (!allowsSignInLinks(deps.config)) return;
  const follow = async (c: RequestContext) => {
    c.header('Cache-Control', 'no-store');
    c.header('Referrer-Policy', 'no-referrer');
    // An answer that no browser keeps for the moment when somebody does ask.
    if (!isOpened(c)) return c.body(null, 503);
    if (!isFromHere(c)) return c.redirect(ENDED, 303);
    const token = newSessionToken();
    const person = await takeSignInLink(deps.db, {
      linkHash: hashToken(c.req.param('token') ?? ''),
      sessionHash: hashToken(token),
      days: SESSION_DAYS,
    });
    if (!person) return c.redirect(ENDED, 303);
    giveSession(c, deps, { token, ...person });
    return c.redirect('/app', 303);
  };
  openly.get('/auth/link/{token}', follow, { limit: OPEN_WRITES });
}

/** Somebody opened it: a browser says what a request is for, and who says nothing is none. */
function isOpened(c: RequestContext): boolean {
  const destination = c.req.header('sec-fetch-dest') ?? 'document';
  const ahead = AHEAD.some((name) => c.req.header(name) !== undefined);
  return c.req.method === 'GET' && destination === 'document' && !ahead;
}
