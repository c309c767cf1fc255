import { createHash, randomBytes } from 'node:crypto';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { RequestContext } from './env.ts';

/** The name of the session cookie if PUBLIC_URL is http. */
export const SESSION_COOKIE = 'tidings_session';
/**
 * The name of the session cookie if PUBLIC_URL is https. With the `__Host-` prefix, browsers accept it only from this
 * host over TLS, so a sibling subdomain cannot set it.
 */
export const SECURE_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`;
/** One month is long enough for a dashboard that is opened occasionally. */
export const SESSION_DAYS = 30;

/** Creates a session token: 32 random bytes in base64url. Postgres stores only the hash of a token. */
export function createSessionToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the hash under which a session is stored and found. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

/**
 * Returns the session token of a request. Reads only the cookie name for the scheme of PUBLIC_URL. Undefined without
 * the cookie.
 */
export function readSessionToken(c: RequestContext, publicUrl: string): string | undefined {
  return getCookie(c, isHttps(publicUrl) ? SECURE_SESSION_COOKIE : SESSION_COOKIE) || undefined;
}

/** Sets the session cookie. */
export function setSessionCookie(c: RequestContext, token: string, publicUrl: string): void {
  const secure = isHttps(publicUrl);
  const maxAge = SESSION_DAYS * 24 * 3600;
  setCookie(c, secure ? SECURE_SESSION_COOKIE : SESSION_COOKIE, token, { ...OPTIONS, secure, maxAge });
}

/** Deletes the session cookie under both names. */
export function deleteSessionCookie(c: RequestContext, publicUrl: string): void {
  deleteCookie(c, SESSION_COOKIE, { ...OPTIONS, secure: isHttps(publicUrl) });
  deleteCookie(c, SECURE_SESSION_COOKIE, { ...OPTIONS, secure: true });
}

/** Tells whether PUBLIC_URL is https. The request's headers do not count, because a caller may forge them. */
export function isHttps(publicUrl: string): boolean {
  return publicUrl.startsWith('https://');
}

const OPTIONS = { path: '/', httpOnly: true, sameSite: 'Lax' } as const;
