import type { RequestContext } from './env.ts';

/** The address of the connection's other end. Headers that a caller could write are not believed. */
export function clientAddress(c: RequestContext): string {
  const address = c.env?.incoming?.socket?.remoteAddress ?? 'unknown';
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}
