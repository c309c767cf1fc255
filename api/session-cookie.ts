import { createHash, randomBytes } from 'node:crypto';
import { deleteCookie, setCookie } from 'hono/cookie';
import type { RequestContext } from './env.ts';

export const SESSION_COOKIE = 'tidings_session';
/** A month: long enough for a dashboard that is opened now and then. */
export const SESSION_DAYS = 30;

/** A new session token: 32 random bytes that say nothing. Only its hash is stored. */
export function newSessionToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What a session is stored and found by. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** Gives the browser its session; Secure where the service is reached by https. Source: decisions §2. */
export function giveSessionCookie(c: RequestContext, token: string, publicUrl: string): void {
  setCookie(c, SESSION_COOKIE, token, { ...cookieOptions(publicUrl), maxAge: SESSION_DAYS * 24 * 3600 });
}

/** Takes the session cookie back. */
export function dropSessionCookie(c: RequestContext, publicUrl: string): void {
  deleteCookie(c, SESSION_COOKIE, cookieOptions(publicUrl));
}

function cookieOptions(publicUrl: string) {
  return { path: '/', httpOnly: true, sameSite: 'Lax', secure: publicUrl.startsWith('https://') } as const;
}
