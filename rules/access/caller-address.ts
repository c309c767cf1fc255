import { BlockList, isIP, isIPv4 } from 'node:net';

/** The address that is recorded if a connection has no address any more, for example because it is closed. */
const UNKNOWN = 'unknown';
/**
 * The number of 16-bit groups in the network part of an IPv6 address. A host usually gets a whole /64 network, and can
 * choose the other 64 bits freely.
 */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/** The proxies whose `X-Forwarded-For` header is trusted. */
export interface TrustedProxies {
  trusts(address: string): boolean;
}

/**
 * Tells whether a text is an address or a CIDR, as `TRUSTED_PROXIES` accepts it. `/0` is refused, because every caller
 * could then claim any address.
 */
export function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || more !== undefined) return false;
  if (bits === undefined) return true;
  return /^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128);
}

/** Creates the check for trusted proxies. @param entries addresses and CIDRs that `isAddressOrNetwork` accepts */
export function createTrustedProxies(entries: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return { trusts: (address) => isIP(address) !== 0 && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6') };
}

/**
 * Returns the caller's address: the address at the other end of the connection or, if that is a trusted proxy, an
 * address of the `X-Forwarded-For` header. Proxies append the address that they see, so the header is read from the
 * right, up to the first address that is not a trusted proxy. This address is the caller. Addresses to the left of it
 * may be forged, and are not read. If all addresses are trusted proxies, the leftmost one is the caller. If the
 * function reads an entry that is not an address, it ignores the header and returns the proxy's address.
 */
export function findCallerAddress(p: {
  peer: string | undefined;
  forwardedFor: string | undefined;
  proxies: TrustedProxies;
}): string {
  const peer = parseIpAddress(p.peer ?? '') ?? UNKNOWN;
  if (p.forwardedFor === undefined || !p.proxies.trusts(peer)) return peer;
  let caller = peer;
  for (const hop of p.forwardedFor.split(',').reverse()) {
    const address = parseIpAddress(hop);
    if (address === undefined) return peer;
    caller = address;
    if (!p.proxies.trusts(address)) return address;
  }
  return caller;
}

/**
 * Returns the value by which rate limits count a caller: the IPv4 address, or the first 64 bits of the IPv6 address,
 * because the owner of one IPv6 address usually owns that whole network. Returns a text that is not an address
 * unchanged.
 */
export function toCallerNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  return `${listGroups(address).slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/**
 * Tells whether an address is a loopback address, so the connection comes from this machine. The caller may be a proxy
 * on this machine.
 */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}

/** Returns an address without port, brackets, zone and IPv4-in-IPv6 prefix. Undefined if it is not an address. */
export function parseIpAddress(text: string): string | undefined {
  const bare = text
    .trim()
    .replace(/^\[([^\]]*)\](:\d{1,5})?$/, '$1')
    .replace(/^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/, '$1')
    .replace(/%.*$/, '');
  const version = isIP(bare);
  if (version === 0) return undefined;
  if (version === 4) return bare;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)?.[1];
  return mapped ?? shortenIpv6(bare);
}

/** Returns an IPv6 address in its canonical form (RFC 5952), which the URL parser produces. */
function shortenIpv6(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

/** Returns the eight groups of an IPv6 address, in hexadecimal without leading zeros. */
function listGroups(address: string): string[] {
  const [head = '', tail] = shortenIpv6(address.replace(/%.*$/, '')).split('::');
  const splitGroups = (text: string) => text.split(':').filter(Boolean);
  const [before, after] = [splitGroups(head), splitGroups(tail ?? '')];
  return [...before, ...Array<string>(GROUPS - before.length - after.length).fill('0'), ...after];
}
