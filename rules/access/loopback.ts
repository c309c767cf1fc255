import { isIPv4 } from 'node:net';

/**
 * Whether a host to bind to is reached from this machine only: `localhost` or a loopback address as it is written. A
 * name that the system happens to resolve to loopback counts as public: what it resolves to can change, and a mistake
 * this way costs less.
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
