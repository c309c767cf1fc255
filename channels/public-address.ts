import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Azure's metadata and DNS address. This address is in a public range, but only reachable from inside a virtual
 * machine.
 */
const NOT_PUBLIC = new Set(['168.63.129.16']);

/** The error of `assertPublicHost` and of a webhook's DNS lookup (`webhook-lookup.ts`), which prevents the request. */
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
 * address, or a name of this machine (RFC 6761 §6.3). Undefined for other hosts; the DNS lookup checks their addresses.
 * The class `URL` has already converted decimal, octal and hexadecimal IP addresses to the dotted notation.
 */
export function findPrivateHostReason(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isPrivate = isIP(host) === 0 ? isLocalhost(host) : !isPublicAddress(host);
  return isPrivate ? `${host} is not a public address` : undefined;
}

/** Tells whether a host name is a name of this machine (RFC 6761 §6.3). */
export function isLocalhost(name: string): boolean {
  return /(?:^|\.)localhost\.?$/i.test(name);
}

/**
 * Throws if the host of a URL is private. An IP address in a URL needs no DNS lookup, so the lookup cannot check it.
 * @throws BlockedAddressError
 */
export function assertPublicHost(url: URL): void {
  const reason = findPrivateHostReason(url);
  if (reason !== undefined) throw new BlockedAddressError(reason);
}
