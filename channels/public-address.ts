import { lookup as dnsLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Azure's metadata and DNS address. This address is in a public range, but only reachable from inside a virtual
 * machine.
 */
const NOT_PUBLIC = new Set(['168.63.129.16']);

/** The error of `publicLookup` and `assertPublicHost`, which prevents the request. */
export class BlockedAddressError extends Error {
  readonly code = 'BLOCKED_ADDRESS';
}

/**
 * Tells whether an IP address is a public unicast address. Returns false for loopback, private, link-local, CGNAT and
 * reserved addresses. Treats an IPv4 address that is mapped to IPv6 (`::ffff:0:0/96`) like the IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return parsed.range() === 'unicast' && !NOT_PUBLIC.has(parsed.toString());
}

/**
 * Returns why a host must not be called, as far as this is known without a DNS lookup: the host is a private IP
 * address, or a name of this machine (RFC 6761 §6.3). Undefined for other hosts; `publicLookup` checks their addresses.
 * The class `URL` has already converted decimal, octal and hexadecimal IP addresses to the dotted notation.
 */
export function findPrivateHostReason(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isPrivate = isIP(host) === 0 ? /(?:^|\.)localhost$/i.test(host) : !isPublicAddress(host);
  return isPrivate ? `${host} is not a public address` : undefined;
}

/**
 * Throws if the host of a URL is private. An IP address in a URL needs no DNS lookup, so `publicLookup` cannot check
 * it.
 * @throws BlockedAddressError
 */
export function assertPublicHost(url: URL): void {
  const reason = findPrivateHostReason(url);
  if (reason !== undefined) throw new BlockedAddressError(reason);
}

/**
 * A function for the option `lookup` of connections. The function returns only public addresses. The connection uses
 * exactly the address that was checked, which prevents DNS rebinding.
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
