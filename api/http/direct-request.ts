import { isLoopbackAuthority } from '../../rules/access/loopback.ts';
import type { RequestContext } from './env.ts';

/** Headers that a proxy adds to a request. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Tells whether a request comes directly from this machine. Only valid if HOST is a loopback address, so that every
 * request comes from this machine or through a proxy on it. The function recognizes forwarded requests of remote
 * callers by the requested host name, or by the headers that a proxy adds.
 */
export function isDirectRequest(c: RequestContext): boolean {
  const host = c.req.header('host');
  if (host !== undefined && !isLoopbackAuthority(host)) return false;
  return FORWARDED.every((name) => c.req.header(name) === undefined);
}
