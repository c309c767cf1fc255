import { BlockList, isIP, isIPv4 } from 'node:net';

/** The address that is recorded for a caller whose connection is closed already. */
const UNKNOWN = 'unknown';
/** A host gets a /64 of IPv6, and can choose the other 64 bits freely. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;

/** The proxies whose `X-Forwarded-For` header is trusted. */
export interface TrustedProxies {
  trusts(address: string): boolean;
}

/**
 * Tells whether a text is an address or a CIDR, as `TRUSTED_PROXIES` takes it. `/0` is refused, because every caller
 * could then claim any address.
 */
export function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || more !== undefined) return false;
  if (bits === undefined) return true;
  return /^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= (version === 4 ? 32 : 128);
}

/** @param entries addresses and CIDRs that `isAddressOrNetwork` takes */
export function trustedProxies(entries: readonly string[]): TrustedProxies {
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
 * Returns the caller's address: the other end of the connection or, if that is a trusted proxy, the address in
 * `X-Forwarded-For`. Proxies append the address that they see, so the list is read from the right, and the first
 * address that is not a trusted proxy is the caller. The caller may have written the entries before it. An unreadable
 * list is ignored.
 */
export function callerAddress(p: {
  peer: string | undefined;
  forwardedFor: string | undefined;
  proxies: TrustedProxies;
}): string {
  const peer = plainAddress(p.peer ?? '') ?? UNKNOWN;
  if (p.forwardedFor === undefined || !p.proxies.trusts(peer)) return peer;
  let caller = peer;
  for (const hop of p.forwardedFor.split(',').reverse()) {
    const address = plainAddress(hop);
    if (address === undefined) return peer;
    caller = address;
    if (!p.proxies.trusts(address)) return address;
  }
  return caller;
}

/**
 * Returns the value by which limits count a caller: the address or, for IPv6, its first 64 bits, since an owner of
 * one address has the whole network. Any other value is returned unchanged.
 */
export function callerNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  return `${groupsOf(address).slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** Tells whether an address is this machine's. The caller may be a proxy on this machine. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || (isIPv4(address) && address.startsWith('127.'));
}

/** Returns an address without port, brackets, zone and IPv4-in-IPv6 prefix. Undefined if it is not an address. */
export function plainAddress(text: string): string | undefined {
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

/** Returns an IPv6 address in its only form of RFC 5952, which the URL parser writes. */
function shortenIpv6(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1);
}

/** Returns the eight groups of an IPv6 address, in hexadecimal without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = shortenIpv6(address.replace(/%.*$/, '')).split('::');
  const groups = (text: string) => text.split(':').filter(Boolean);
  const [before, after] = [groups(head), groups(tail ?? '')];
  return [...before, ...Array<string>(GROUPS - before.length - after.length).fill('0'), ...after];
}
