import { createHmac } from 'node:crypto';
import type { Db } from '../../db/connection.ts';
import { deleteOldRateWindows, takeFromRateWindow } from '../../db/rate-windows.ts';
import { normalizeEmail } from '../../rules/emails/email-address.ts';
import { LimitReached } from '../../rules/errors.ts';
import { type CallerLimits, createCallerLimits } from './caller-limits.ts';

const WINDOW_SECONDS = 60;
/**
 * A process takes 1 % of a limit from Postgres at a time, but at least one request. Such a part is a lease. The process
 * counts the requests of its lease in memory. So the limit needs at most about 100 statements per window, and all
 * processes together never exceed it. Each process leaves at most 1 % unused.
 */
const LEASES_PER_WINDOW = 100;
/**
 * Maximum number of leases in memory. When it is reached, leases whose window has ended are deleted, or all leases if
 * no window has ended.
 */
const MAX_LEASES = 20_000;
/** Interval at which rows of old windows are deleted from Postgres. */
const CLEAN_MS = 10 * 60_000;

/** Requests per minute with the public key, which anyone can read from a page. Source: contract §2.2 Public key. */
const PUBLIC_KEY_PER_ADDRESS = 300;
const PUBLIC_KEY_PER_CONTACT = 100;
/** Requests per minute for each project and IP address. */
const BACK_IN_STOCK_PER_CALLER = 20;

/** State of a limit after a request, for the `RateLimit-*` headers. */
export interface RateState {
  limit: number;
  remaining: number;
  resetSeconds: number;
}

export interface RateLimits extends CallerLimits {
  /**
   * Counts one request of a project. Undefined if RATE_LIMIT_PER_MINUTE is 0.
   * @throws AppError RATE_LIMIT_EXCEEDED
   */
  takeForProject(projectId: string): Promise<RateState | undefined>;
  /**
   * Counts one request with a project's public key, separately from the project's other requests, so that
   * unauthenticated callers cannot use up the project's own limit. Undefined if PUBLIC_RATE_LIMIT_PER_MINUTE is 0.
   * @throws AppError RATE_LIMIT_EXCEEDED
   */
  takeForPublicKey(projectId: string): Promise<RateState | undefined>;
  /**
   * Counts one request with a project's public key from an IP address.
   * @throws AppError RATE_LIMIT_EXCEEDED
   */
  takeForPublicAddress(projectId: string, address: string): Promise<RateState>;
  /**
   * Counts one request with a project's public key about a contact's email address.
   * @throws AppError RATE_LIMIT_EXCEEDED
   */
  takeForPublicContact(projectId: string, email: string): Promise<RateState>;
  /**
   * Counts one back-in-stock request from an IP address.
   * @throws AppError RATE_LIMIT_EXCEEDED
   */
  takeForBackInStock(projectId: string, address: string): Promise<RateState>;
  close(): void;
}

/** The part of a limit that this process may use up in the current window. */
interface Lease {
  /** Number of requests that the process may still accept without asking Postgres. */
  left: number;
  /** Number of requests that all processes had taken from the window when the lease was last renewed. */
  taken: number;
  endsAtMs: number;
  renewing: Promise<void> | undefined;
}

/**
 * Creates the rate limits. Limits of requests use fixed windows of one minute, counted in Postgres over all API
 * processes, see `LEASES_PER_WINDOW`.
 */
export function createRateLimits(deps: {
  db: Db;
  perMinute: number;
  publicPerMinute: number;
  key: Buffer;
}): RateLimits {
  const leases = new Map<string, Lease>();
  const cleaning = setInterval(() => void deleteOldRateWindows(deps.db).catch(() => {}), CLEAN_MS);
  cleaning.unref();

  async function take(subject: string, limit: number): Promise<RateState> {
    let lease = getLease(subject);
    // Other requests that waited for the same renewal may have used up the renewed lease. Then the loop renews it
    // again.
    for (let attempts = 0; lease.left <= 0 && attempts < LEASES_PER_WINDOW; attempts += 1) {
      if (lease.taken >= limit && Date.now() < lease.endsAtMs) break;
      lease.renewing ??= renew(subject, lease, limit);
      await lease.renewing;
      lease = getLease(subject);
    }
    const remaining = Math.max(0, limit - lease.taken + Math.max(0, lease.left - 1));
    const resetSeconds = Math.max(1, Math.ceil((lease.endsAtMs - Date.now()) / 1000));
    if (lease.left <= 0) {
      throw new LimitReached({
        message: `The limit of ${limit} requests a minute is reached.`,
        details: { limit },
        headers: toRateLimitHeaders({ limit, remaining: 0, resetSeconds }),
        retryAfterMs: resetSeconds * 1_000,
      });
    }
    lease.left -= 1;
    return { limit, remaining, resetSeconds };
  }

  function getLease(subject: string): Lease {
    const current = leases.get(subject);
    if (current && (current.endsAtMs > Date.now() || current.renewing)) return current;
    if (leases.size >= MAX_LEASES) deleteEndedLeases();
    const lease: Lease = { left: 0, taken: 0, endsAtMs: 0, renewing: undefined };
    leases.set(subject, lease);
    return lease;
  }

  async function renew(subject: string, lease: Lease, limit: number): Promise<void> {
    try {
      const wantedCount = Math.max(1, Math.floor(limit / LEASES_PER_WINDOW));
      const grant = await takeFromRateWindow(deps.db, {
        subject,
        want: wantedCount,
        limit,
        windowSeconds: WINDOW_SECONDS,
      });
      lease.left = grant.granted;
      lease.taken = grant.taken;
      lease.endsAtMs = Date.now() + grant.resetMs;
    } finally {
      lease.renewing = undefined;
    }
  }

  function deleteEndedLeases(): void {
    const nowMs = Date.now();
    for (const [subject, lease] of leases) if (lease.endsAtMs <= nowMs && !lease.renewing) leases.delete(subject);
    if (leases.size >= MAX_LEASES) leases.clear();
  }

  // Addresses are stored as keyed hashes, so that the counters do not reveal who made requests.
  const hashOf = (text: string): string => createHmac('sha256', deps.key).update(text).digest('base64url').slice(0, 22);

  return {
    ...createCallerLimits({ db: deps.db, hashOf }),
    takeForProject: async (projectId) =>
      deps.perMinute > 0 ? take(`project ${projectId}`, deps.perMinute) : undefined,
    takeForPublicKey: async (projectId) =>
      deps.publicPerMinute > 0 ? take(`public ${projectId}`, deps.publicPerMinute) : undefined,
    takeForPublicAddress: (projectId, address) =>
      take(`address ${projectId} ${hashOf(address)}`, PUBLIC_KEY_PER_ADDRESS),
    takeForPublicContact: (projectId, email) =>
      take(`contact ${projectId} ${hashOf(normalizeEmail(email))}`, PUBLIC_KEY_PER_CONTACT),
    takeForBackInStock: (projectId, address) =>
      take(`back-in-stock ${projectId} ${hashOf(address)}`, BACK_IN_STOCK_PER_CALLER),
    close: () => clearInterval(cleaning),
  };
}

/** Returns the `RateLimit-*` headers for the state of a limit. */
export function toRateLimitHeaders(state: RateState): Record<string, string> {
  return {
    'RateLimit-Limit': String(state.limit),
    'RateLimit-Remaining': String(state.remaining),
    'RateLimit-Reset': String(state.resetSeconds),
  };
}
