import { isLoopbackAuthority } from '../../rules/access/loopback.ts';
import type { RequestContext } from './env.ts';

/** Headers that a proxy adds to a request. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Tells whether a request to a loopback HOST comes directly from this machine. A proxy on this machine may forward
 * requests of remote callers. The function recognizes such requests by the requested host name, or by the headers that
 * a proxy adds.
 */
export function isFromHere(c: RequestContext): boolean {
  const host = c.req.header('host');
  if (host !== undefined && !isLoopbackAuthority(host)) return false;
  return FORWARDED.every((name) => c.req.header(name) === undefined);
}
