import { findCallerAddress, toCallerNetwork } from '../../rules/access/caller-address.ts';
import type { RequestContext } from './env.ts';

/**
 * Returns the caller's IP address, for the audit log and for limits. Headers that a caller could forge are ignored:
 * see `TRUSTED_PROXIES`.
 */
export function readClientAddress(c: RequestContext): string {
  return findCallerAddress({
    peer: c.env?.incoming?.socket?.remoteAddress,
    forwardedFor: c.req.header('x-forwarded-for'),
    proxies: c.get('proxies'),
  });
}

/** Returns the network by which limits count a caller: the IP address, or its /64 network for IPv6. */
export function readClientNetwork(c: RequestContext): string {
  return toCallerNetwork(readClientAddress(c));
}
