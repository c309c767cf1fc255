import type { Db } from '../../db/connection.ts';
import { takeFromRateWindow } from '../../db/rate-windows.ts';
import { isLoopbackAddress, toCallerNetwork } from '../../rules/access/caller-address.ts';
import { LimitReached } from '../../rules/errors.ts';

/** Limit of sign-ups from one IP address. Loopback addresses have a higher limit, for development and tests. */
const SIGN_UPS = { limit: 20, windowSeconds: 3600, period: 'an hour' };
const SIGN_UPS_FROM_LOOPBACK = { limit: 50, windowSeconds: 60, period: 'a minute' };

/** Limit of invitations to a project, because each invitation may send an email to an unknown person. */
const INVITATIONS = { limit: 20, windowSeconds: 3600 };

/**
 * The maximum number of counts in memory, one for each limit and caller. The count of a further caller replaces the
 * oldest count. So a caller that uses more IP addresses than this number is not limited.
 */
const MAX_CALLERS = 50_000;
const MINUTE_MS = 60_000;

/** A limit of requests per caller and minute. Each process counts separately. */
export interface UnauthenticatedLimit {
  /** The limited requests, as a plural noun for the error message. */
  name: string;
  perMinute: number;
  /**
   * The limit per minute for loopback addresses. It also applies to a proxy on this machine, if TRUSTED_PROXIES does
   * not name the proxy.
   */
  perMinuteFromLoopback: number;
}

/**
 * Limit for all routes that write without credentials. It is far above normal use, and above the one-click
 * unsubscriptions from the few addresses of a large mailbox provider.
 */
export const UNAUTHENTICATED_WRITES: UnauthenticatedLimit = {
  name: 'writes',
  perMinute: 600,
  perMinuteFromLoopback: 6_000,
};
/**
 * Limit for opens and clicks. It is high, because normal traffic must not lose an open or click. The image proxies of
 * large mailbox providers send the requests of millions of people from a few addresses.
 */
export const TRACKED_HITS: UnauthenticatedLimit = {
  name: 'opens and clicks',
  perMinute: 60_000,
  perMinuteFromLoopback: 600_000,
};
/**
 * Limit for refused provider callbacks. Accepted callbacks do not count, because providers send thousands per minute
 * from a few addresses.
 */
export const REFUSED_CALLBACKS: UnauthenticatedLimit = {
  name: 'refused callbacks',
  perMinute: 100,
  perMinuteFromLoopback: 1_000,
};
/**
 * Limit for fetching certificates of SNS, which uses one certificate for months. It applies before the signature is
 * checked.
 */
export const CERTIFICATE_FETCHES: UnauthenticatedLimit = {
  name: 'fetched certificates',
  perMinute: 10,
  perMinuteFromLoopback: 100,
};

/**
 * Limits for callers without credentials, by IP address (by /64 network for IPv6), and for invitations, by project.
 */
export interface CallerLimits {
  /**
   * Counts one sign-up, over all processes.
   * @throws AppError RATE_LIMIT_EXCEEDED
   */
  takeForSignUp(address: string): Promise<void>;
  /**
   * Counts one invitation to a project, over all processes.
   * @throws AppError RATE_LIMIT_EXCEEDED
   */
  takeForInvitation(projectId: string): Promise<void>;
  /**
   * Counts a request towards `limit`, in this process only, so that unauthenticated callers cause no queries.
   * @throws AppError RATE_LIMIT_EXCEEDED
   */
  takeForUnauthenticated(address: string, limit: UnauthenticatedLimit): void;
}

/** @param deps.hashOf hashes an address, because the counters in Postgres must not contain addresses */
export function createCallerLimits({ db, hashOf }: { db: Db; hashOf: (text: string) => string }): CallerLimits {
  const windows = new Map<string, { taken: number; endsAtMs: number }>();

  function getWindow(subject: string, nowMs: number): { taken: number; endsAtMs: number } {
    const current = windows.get(subject);
    if (current && current.endsAtMs > nowMs) return current;
    // Inserted again at the end, so that the first entry is always the oldest.
    windows.delete(subject);
    if (windows.size >= MAX_CALLERS) windows.delete(windows.keys().next().value ?? '');
    const window = { taken: 0, endsAtMs: nowMs + MINUTE_MS };
    windows.set(subject, window);
    return window;
  }

  return {
    takeForUnauthenticated(address, { name, perMinute, perMinuteFromLoopback }) {
      const limit = isLoopbackAddress(address) ? perMinuteFromLoopback : perMinute;
      const nowMs = Date.now();
      const window = getWindow(`${name} ${toCallerNetwork(address)}`, nowMs);
      if (window.taken >= limit)
        throw createLimitError(`${limit} ${name} a minute from one address`, {
          limit,
          retryMs: window.endsAtMs - nowMs,
        });
      window.taken += 1;
    },
    async takeForInvitation(projectId) {
      const subject = `invitation ${projectId}`;
      const { granted, resetMs } = await takeFromRateWindow(db, { subject, want: 1, ...INVITATIONS });
      if (granted > 0) return;
      const { limit } = INVITATIONS;
      throw createLimitError(`${limit} invitations an hour to one project`, { limit, retryMs: resetMs });
    },
    async takeForSignUp(address) {
      const { limit, windowSeconds, period } = isLoopbackAddress(address) ? SIGN_UPS_FROM_LOOPBACK : SIGN_UPS;
      const subject = `sign-up ${hashOf(toCallerNetwork(address))}`;
      const { granted, resetMs } = await takeFromRateWindow(db, { subject, want: 1, limit, windowSeconds });
      if (granted > 0) return;
      throw createLimitError(`${limit} sign-ups ${period} from one address`, { limit, retryMs: resetMs });
    },
  };
}

function createLimitError(limitText: string, p: { limit: number; retryMs: number }): LimitReached {
  return new LimitReached({
    message: `The limit of ${limitText} is reached.`,
    details: { limit: p.limit },
    retryAfterMs: p.retryMs,
  });
}
