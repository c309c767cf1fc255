import { AppError } from '../../rules/errors.ts';
import type { RequestContext } from './env.ts';

/**
 * Refuses a write with a session cookie if another site could have caused it. Browsers state the origin of a request in
 * `Origin` or `Sec-Fetch-Site`, and HTML forms cannot send JSON. A client that sends neither header counts as a client
 * that is not a browser, so its write may continue. Source: contract §2.6 Sessions.
 * @throws AppError FORBIDDEN
 */
export function refuseForeignWrite(c: RequestContext, publicUrl: string): void {
  const type = c.req.header('content-type');
  if (type && !/^(application\/([\w.-]+\+)?json|multipart\/form-data)\s*(;|$)/i.test(type)) {
    throw createForbiddenError('A write with a session cookie must be JSON or multipart/form-data.');
  }
  const origin = c.req.header('origin');
  if (origin !== undefined && !isOwnOrigin(origin, c.req.header('host'), publicUrl)) {
    throw createForbiddenError('This write comes from another site.');
  }
  const site = c.req.header('sec-fetch-site');
  if (origin === undefined && site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw createForbiddenError('This write comes from another site.');
  }
}

/**
 * Tells whether an origin is the service's own: the origin of PUBLIC_URL, or an origin with the requested host. The
 * requested host is safe to compare with, because browsers do not let a page forge `Host`.
 */
function isOwnOrigin(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  return url.origin === new URL(publicUrl).origin || (host !== undefined && url.host === host.toLowerCase());
}

function createForbiddenError(message: string): AppError {
  return new AppError('FORBIDDEN', {
    message,
    suggestion: 'Send the request from the dashboard, or send an API key instead of the cookie.',
  });
}
