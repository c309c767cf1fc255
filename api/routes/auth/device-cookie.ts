import { createHmac, timingSafeEqual } from 'node:crypto';
import { getCookie, setCookie } from 'hono/cookie';
import type { RequestContext } from '../../http/env.ts';
import { createSessionToken, isHttps } from '../../http/session-cookie.ts';

/** One year. After this time, a browser counts as new again. */
const MAX_AGE_SECONDS = 365 * 24 * 3600;

/** A browser in which a user has signed in to an account before. */
export interface KnownDevice {
  id: string;
  userId: string;
}

/**
 * Sets a cookie that marks a browser in which a user has signed in. The login throttle counts the attempts from such a
 * browser separately, so failed sign-ins from other browsers never lock it out. The cookie grants no access. It only
 * allows ten wrong passwords in 15 minutes for the account that the cookie names.
 */
export function setDeviceCookie(
  c: RequestContext,
  p: { userId: string; email: string; key: Buffer; publicUrl: string },
) {
  const id = createSessionToken();
  const value = [p.userId, id, computeSignature({ ...p, id })].join('.');
  const secure = isHttps(p.publicUrl);
  const options = { path: '/', httpOnly: true, sameSite: 'Lax', secure, maxAge: MAX_AGE_SECONDS } as const;
  setCookie(c, chooseCookieName(p.publicUrl), value, options);
}

/**
 * Returns the device of a request to sign in with this address. Undefined if the browser has no valid device cookie for
 * an account with this address.
 */
export function readKnownDevice(
  c: RequestContext,
  p: { email: string; key: Buffer; publicUrl: string },
): KnownDevice | undefined {
  const [userId, id, sentSignature, extraPart] = getCookie(c, chooseCookieName(p.publicUrl))?.split('.') ?? [];
  if (!userId || !id || !sentSignature || extraPart !== undefined) return undefined;
  const [expected, actual] = [Buffer.from(computeSignature({ ...p, userId, id })), Buffer.from(sentSignature)];
  return expected.length === actual.length && timingSafeEqual(expected, actual) ? { id, userId } : undefined;
}

function chooseCookieName(publicUrl: string): string {
  return `${isHttps(publicUrl) ? '__Host-' : ''}tidings_device`;
}

function computeSignature({
  key,
  email,
  userId,
  id,
}: {
  key: Buffer;
  email: string;
  userId: string;
  id: string;
}): string {
  return createHmac('sha256', key).update(`device ${userId} ${id} ${email}`).digest('base64url');
}
