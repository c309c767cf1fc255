import type { Settings } from '../config.ts';
import { isLoopbackHost } from './loopback.ts';

/**
 * How long a sign-in link works. `npm start` prints the link. The time is long enough to open the link from the
 * console, and too short for a person who later finds the link in a log.
 */
export const SIGN_IN_LINK_MINUTES = 15;

/**
 * Tells whether sign-in links are allowed: only if the dashboard is on and no other machine can reach the service. A
 * `PUBLIC_URL` with https, or with a host other than loopback, means that a proxy forwards callers of other machines.
 */
export function allowsSignInLinks(p: Pick<Settings, 'dashboard' | 'publicHost' | 'publicUrl'>): boolean {
  const { protocol, hostname } = new URL(p.publicUrl);
  return p.dashboard && !p.publicHost && protocol === 'http:' && isLoopbackHost(hostname);
}
