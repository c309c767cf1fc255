import { createHash, randomBytes } from 'node:crypto';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { RequestContext } from './env.ts';

/** The name on http. */
export const SESSION_COOKIE = 'tidings_session';
/**
 * The name on https: by the prefix browsers take it from this very host over TLS only, so that no neighbouring
 * subdomain can plant one.
 */
export const SECURE_SESSION_COOKIE = `__Host-${SESSION_COOKIE}`;
/** A month: long enough for a dashboard that is opened now and then. */
export const SESSION_DAYS = 30;

/** A new session token: 32 random bytes that say nothing. Only its hash is stored. */
export function newSessionToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the value that a session is stored and found by. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** Returns the session token of a request, by the only cookie name that counts here. Undefined without one. */
export function givenSessionToken(c: RequestContext, publicUrl: string): string | undefined {
  return getCookie(c, isSecure(publicUrl) ? SECURE_SESSION_COOKIE : SESSION_COOKIE) || undefined;
}

/** Gives the browser its session. */
export function giveSessionCookie(c: RequestContext, token: string, publicUrl: string): void {
  const secure = isSecure(publicUrl);
  const maxAge = SESSION_DAYS * 24 * 3600;
  setCookie(c, secure ? SECURE_SESSION_COOKIE : SESSION_COOKIE, token, { ...OPTIONS, secure, maxAge });
}

/** Takes the session back, by whichever name the browser has it. */
export function dropSessionCookie(c: RequestContext, publicUrl: string): void {
  deleteCookie(c, SESSION_COOKIE, { ...OPTIONS, secure: isSecure(publicUrl) });
  deleteCookie(c, SECURE_SESSION_COOKIE, { ...OPTIONS, secure: true });
}

/**
 * Tells whether the service is reached by https. The request's own claims do not count, because its sender may have
 * written them.
 */
export function isSecure(publicUrl: string): boolean {
  return publicUrl.startsWith('https://');
}

const OPTIONS = { path: '/', httpOnly: true, sameSite: 'Lax' } as const;
