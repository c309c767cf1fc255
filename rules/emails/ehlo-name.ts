import { isIP } from 'node:net';
import { isLoopbackHost } from '../access/loopback.ts';

/**
 * Returns the name by which the service greets mail servers at EHLO: the host of RETURN_PATH_DOMAIN, else of
 * PUBLIC_URL. Strict servers reply 421 to an address literal or to a name that the DNS does not know. Null if neither
 * is a public name.
 */
export function ehloName(p: { returnPathDomain: string | undefined; publicUrl: string }): string | null {
  if (p.returnPathDomain !== undefined) return p.returnPathDomain;
  const host = new URL(p.publicUrl).hostname;
  if (isLoopbackHost(host.replace(/^\[|\]$/g, ''))) return null;
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) === 4) return `[${address}]`;
  if (isIP(address) === 6) return `[IPv6:${address}]`;
  return host.includes('.') ? host : null;
}
