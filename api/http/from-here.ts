import { isLoopbackAuthority } from '../../rules/access/loopback.ts';
import type { RequestContext } from './env.ts';

/** What a proxy adds to what it passes on. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/**
 * Whether a request to a loopback HOST comes straight from this machine. A proxy on this machine brings strangers: it
 * shows by the name that they asked for, or by what it adds.
 */
export function isFromHere(c: RequestContext): boolean {
  const host = c.req.header('host');
  if (host !== undefined && !isLoopbackAuthority(host)) return false;
  return FORWARDED.every((name) => c.req.header(name) === undefined);
}
