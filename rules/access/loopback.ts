import { isIPv4 } from 'node:net';

/**
 * Tells whether a host to bind to can be reached only from this machine: `localhost` or a literal loopback address. A
 * name that happens to resolve to loopback counts as public, because its resolution can change, and a mistake in this
 * direction costs less.
 */
export function isLoopbackHost(host: string): boolean {
  const bare = host.toLowerCase().replace(/^\[|\]$/g, '');
  return bare === 'localhost' || bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'));
}

/**
 * Whether a request's `Host` names this machine itself: a loopback address, `localhost` or a name under it (RFC 6761
 * §6.3: no DNS answers for those), with any port.
 */
export function isLoopbackAuthority(authority: string): boolean {
  const name = hostOf(authority);
  return isLoopbackHost(name) || name.endsWith('.localhost');
}

/** The host of a `Host` header in lower case: without its port, and without the dot that ends a full name. */
export function hostOf(authority: string): string {
  const [, host = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(authority.trim()) ?? [];
  return host.toLowerCase().replace(/\.$/, '');
}
