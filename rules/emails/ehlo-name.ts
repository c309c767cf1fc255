import { isIP } from 'node:net';
import { isLoopbackHost } from '../access/loopback.ts';

/**
 * Returns the name that the service sends to mail servers in EHLO: RETURN_PATH_DOMAIN, else the host of PUBLIC_URL. An
 * IP address becomes an address literal (RFC 5321 §4.1.3). Null if the host is local, or is a name without a dot.
 * Strict servers reply 421 to an address literal or to a name that is not in the DNS.
 */
export function chooseEhloName(p: { returnPathDomain: string | undefined; publicUrl: string }): string | null {
  if (p.returnPathDomain !== undefined) return p.returnPathDomain;
  const host = new URL(p.publicUrl).hostname;
  if (isLoopbackHost(host.replace(/^\[|\]$/g, ''))) return null;
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) === 4) return `[${address}]`;
  if (isIP(address) === 6) return `[IPv6:${address}]`;
  return host.includes('.') ? host : null;
}
