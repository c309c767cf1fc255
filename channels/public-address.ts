import { lookup as dnsLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Azure's metadata and DNS address. It is in a public range, but reachable only from inside a virtual machine. */
const NOT_PUBLIC = new Set(['168.63.129.16']);

/** Thrown by `publicLookup` and `assertPublicHost` instead of making the request. */
export class BlockedAddressError extends Error {
  readonly code = 'BLOCKED_ADDRESS';
}

/**
 * Tells whether an IP address is a public unicast address. Addresses in loopback, private, link-local, CGNAT, mapped
 * and reserved ranges are not.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return parsed.range() === 'unicast' && !NOT_PUBLIC.has(parsed.toString());
}

/**
 * Refuses a host that is the IP literal of a private address, in any notation. A literal never reaches the DNS lookup,
 * so it must be checked here. WHATWG URLs have already converted decimal, octal and hex notations to dotted ones.
 */
export function assertPublicHost(url: URL): void {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new BlockedAddressError(`${host} is not a public address`);
}

/**
 * A `lookup` for connections that returns only public addresses. The connection therefore uses the address that was
 * checked, which prevents DNS rebinding.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 4);
    const allowed = addresses.filter(({ address }) => isPublicAddress(address));
    const [first] = allowed;
    if (!first) return callback(new BlockedAddressError(`${hostname} has no public address`), '', 4);
    if (options.all) return callback(null, allowed);
    callback(null, first.address, first.family);
  });
};
