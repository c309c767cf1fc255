import type { Db } from '../../db/connection.ts';
import { takeFromWindow } from '../../db/rate-windows.ts';
import { callerNetwork, isLoopbackAddress } from '../../rules/access/caller-address.ts';
import { LimitReached } from '../../rules/errors.ts';

/** Sign-ups of one caller; more from this machine, where development and tests are. */
const SIGN_UPS = { limit: 20, windowSeconds: 3600, words: 'an hour' };
const SIGN_UPS_FROM_HERE = { limit: 50, windowSeconds: 60, words: 'a minute' };

/** Invitations of a project, each of which may be a mail to a stranger. */
const INVITATIONS = { limit: 20, windowSeconds: 3600 };

/**
 * Callers remembered at a time; beyond it the oldest is forgotten: who has so many addresses is not held by any of
 * them.
 */
const MAX_CALLERS = 50_000;
const MINUTE_MS = 60_000;

/** What one caller may do in a minute, in each process. */
export interface OpenLimit {
  name: string;
  perMinute: number;
  /** From this machine, where a proxy may be that nobody has named. */
  fromHere: number;
}

/**
 * Of any route without credentials that writes: far more than people do, and than the few addresses of a large mailbox
 * provider do in one-click unsubscriptions.
 */
export const OPEN_WRITES: OpenLimit = { name: 'writes', perMinute: 600, fromHere: 6_000 };
/**
 * Opens and clicks: the image proxies of large mailbox providers fetch for millions from a few addresses each, and none
 * of theirs may be lost.
 */
export const TRACKED_HITS: OpenLimit = { name: 'opens and clicks', perMinute: 60_000, fromHere: 600_000 };
/**
 * Callbacks that were refused. Those that their provider has signed count nowhere: there are thousands a minute of
 * them, from a few addresses.
 */
export const REFUSED_CALLBACKS: OpenLimit = { name: 'refused callbacks', perMinute: 100, fromHere: 1_000 };
/** Of SNS, which has one for months, before anything is proven. */
export const CERTIFICATE_FETCHES: OpenLimit = { name: 'certificates to fetch', perMinute: 10, fromHere: 100 };

/** Limits of callers who need no credentials, by their address: of IPv6 by its /64. */
export interface CallerLimits {
  /** One sign-up, counted over all processes. @throws AppError RATE_LIMIT_EXCEEDED */
  takeForSignUp(address: string): Promise<void>;
  /** One invitation to a project, counted over all processes. @throws AppError RATE_LIMIT_EXCEEDED */
  takeForInvitation(projectId: string): Promise<void>;
  /**
   * One of what a limit names, counted in this process alone, so that strangers cost the database nothing. @throws
   * AppError RATE_LIMIT_EXCEEDED
   */
  takeForOpenWrite(address: string, limit: OpenLimit): void;
}

/** @param deps.hidden what an address is stored as */
export function createCallerLimits({ db, hidden }: { db: Db; hidden: (text: string) => string }): CallerLimits {
  const windows = new Map<string, { taken: number; endsAtMs: number }>();

  function windowOf(subject: string, nowMs: number): { taken: number; endsAtMs: number } {
    const known = windows.get(subject);
    if (known && known.endsAtMs > nowMs) return known;
    // Put last again: the first is always the oldest.
    windows.delete(subject);
    if (windows.size >= MAX_CALLERS) windows.delete(windows.keys().next().value ?? '');
    const fresh = { taken: 0, endsAtMs: nowMs + MINUTE_MS };
    windows.set(subject, fresh);
    return fresh;
  }

  return {
    takeForOpenWrite(address, { name, perMinute, fromHere }) {
      const limit = isLoopbackAddress(address) ? fromHere : perMinute;
      const nowMs = Date.now();
      const window = windowOf(`${name} ${callerNetwork(address)}`, nowMs);
      if (window.taken >= limit)
        throw tooMany(`${limit} ${name} a minute from one address`, { limit, retryMs: window.endsAtMs - nowMs });
      window.taken += 1;
    },
    async takeForInvitation(projectId) {
      const subject = `invitation ${projectId}`;
      const { granted, resetMs } = await takeFromWindow(db, { subject, want: 1, ...INVITATIONS });
      if (granted > 0) return;
      const { limit } = INVITATIONS;
      throw tooMany(`${limit} invitations an hour to one project`, { limit, retryMs: resetMs });
    },
    async takeForSignUp(address) {
      const { limit, windowSeconds, words } = isLoopbackAddress(address) ? SIGN_UPS_FROM_HERE : SIGN_UPS;
      const subject = `sign-up ${hidden(callerNetwork(address))}`;
      const { granted, resetMs } = await takeFromWindow(db, { subject, want: 1, limit, windowSeconds });
      if (granted > 0) return;
      throw tooMany(`${limit} sign-ups ${words} from one address`, { limit, retryMs: resetMs });
    },
  };
}

function tooMany(what: string, p: { limit: number; retryMs: number }): LimitReached {
  return new LimitReached({
    message: `There may be ${what}, and they are used up.`,
    details: { limit: p.limit },
    retryAfterMs: p.retryMs,
  });
}
