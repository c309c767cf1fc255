import { callerAddress, callerNetwork } from '../../rules/access/caller-address.ts';
import type { RequestContext } from './env.ts';

/**
 * The address of who asks, for the audit log. Headers that a caller could write are not believed: see
 * `TRUSTED_PROXIES`.
 */
export function clientAddress(c: RequestContext): string {
  return callerAddress({
    peer: c.env?.incoming?.socket?.remoteAddress,
    forwardedFor: c.req.header('x-forwarded-for'),
    proxies: c.get('proxies'),
  });
}

/** Returns the value by which limits count a caller: the address, or its /64 for IPv6. */
export function clientNetwork(c: RequestContext): string {
  return callerNetwork(clientAddress(c));
}
