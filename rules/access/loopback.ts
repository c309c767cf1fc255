import { isIPv4 } from 'node:net';

/**
 * Tells whether a server that binds to this host can be reached only from this machine: `localhost` or a literal
 * loopback address. A name that resolves to loopback counts as public, because its resolution can change. Treating a
 * private host as public does less harm than the reverse.
 */
export function isLoopbackHost(host: string): boolean {
  const bare = host.toLowerCase().replace(/^\[|\]$/g, '');
  return bare === 'localhost' || bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'));
}

/**
 * Tells whether a request's `Host` names this machine: a loopback address, `localhost`, or a name under `localhost`
 * (which no DNS resolves, RFC 6761 §6.3), with any port.
 */
export function isLoopbackAuthority(authority: string): boolean {
  const name = parseHost(authority);
  return isLoopbackHost(name) || name.endsWith('.localhost');
}

/** Returns the host of a `Host` header in lower case, without its port and without a final dot. */
export function parseHost(authority: string): string {
  const [, host = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/.exec(authority.trim()) ?? [];
  return host.toLowerCase().replace(/\.$/, '');
}
