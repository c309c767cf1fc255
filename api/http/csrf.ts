import { AppError } from '../../rules/errors.ts';
import type { RequestContext } from './env.ts';

/**
 * Refuses a write by cookie that another site could have caused: a browser says where a request comes from, by `Origin`
 * or `Sec-Fetch-Site`, and a form cannot send JSON. A client that sends neither header is no browser.
 * Source: contract §2.6.
 * @throws AppError FORBIDDEN
 */
export function refuseForeignWrite(c: RequestContext, publicUrl: string): void {
  const type = c.req.header('content-type');
  if (type && !/^(application\/([\w.-]+\+)?json|multipart\/form-data)\s*(;|$)/i.test(type)) {
    throw refuseRequest('A write by session must be JSON or multipart/form-data.');
  }
  const origin = c.req.header('origin');
  if (origin !== undefined && !isOwnOrigin(origin, c.req.header('host'), publicUrl)) {
    throw refuseRequest('This write comes from another site.');
  }
  const site = c.req.header('sec-fetch-site');
  if (origin === undefined && site !== undefined && site !== 'same-origin' && site !== 'none') {
    throw refuseRequest('This write comes from another site.');
  }
}

/**
 * The own origins are PUBLIC_URL's and the origin of the requested host, since a browser does not let a page forge
 * `Host`.
 */
function isOwnOrigin(origin: string, host: string | undefined, publicUrl: string): boolean {
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  return url.origin === new URL(publicUrl).origin || (host !== undefined && url.host === host.toLowerCase());
}

function refuseRequest(message: string): AppError {
  return new AppError('FORBIDDEN', { message, suggestion: 'Send the request from the dashboard, or use an API key.' });
}
