import type { Settings } from '../config.ts';
import { isLoopbackHost } from './loopback.ts';

/**
 * How long a sign-in link works. Long enough for a person who opens the link that `npm start` prints, and too short for
 * one who later finds the link in a log.
 */
export const SIGN_IN_LINK_MINUTES = 15;

/**
 * Tells whether sign-in links are allowed: only if no other machine can reach the service. A `PUBLIC_URL` with another
 * host, or on https, means that a proxy forwards other callers.
 */
export function allowsSignInLinks(p: Pick<Settings, 'dashboard' | 'publicHost' | 'publicUrl'>): boolean {
  const { protocol, hostname } = new URL(p.publicUrl);
  return p.dashboard && !p.publicHost && protocol === 'http:' && isLoopbackHost(hostname);
}
