import type { Settings } from '../config.ts';
import { isLoopbackHost } from './loopback.ts';

/** Long enough to read what a start printed, too short to be found in a log. */
export const SIGN_IN_LINK_MINUTES = 15;

/**
 * Whether links that sign in may be made and followed: only where nobody but this machine reaches the service. A
 * `PUBLIC_URL` elsewhere, or on https, means a proxy, and a proxy means others.
 */
export function allowsSignInLinks(p: Pick<Settings, 'dashboard' | 'publicHost' | 'publicUrl'>): boolean {
  const { protocol, hostname } = new URL(p.publicUrl);
  return p.dashboard && !p.publicHost && protocol === 'http:' && isLoopbackHost(hostname);
}
