const SECOND_MS = 1000;
/**
 * The first retry after a deferral is after 30 to 60 s (contract §9.10 Retries). Greylists accept a sender after about
 * a minute.
 */
const FIRST_MIN_MS = 30 * SECOND_MS;
const FIRST_MAX_MS = 60 * SECOND_MS;
/**
 * Longest interval between attempts. A full mailbox or a server that is down is not contacted more often once the
 * first attempts have failed.
 */
const LONGEST_MS = 3600 * SECOND_MS;
/** A message that could not be handed over within a day is useless (docs/decisions.md). */
export const DELIVERY_EXPIRES_MS = 24 * LONGEST_MS;

/**
 * Returns when to retry a deferred message after its `attempts`-th attempt: 30 to 60 s, then twice as long each time
 * up to an hour, with jitter, so that messages that failed together do not return together. Undefined when it has
 * expired. The last attempt is exactly at the expiry. `random` is from 0 to 1.
 */
export function nextAttemptAt(p: { attempts: number; now: Date; expiresAt: Date; random: number }): Date | undefined {
  if (p.now >= p.expiresAt) return undefined;
  const spread = FIRST_MIN_MS + p.random * (FIRST_MAX_MS - FIRST_MIN_MS);
  const waitMs = Math.min(LONGEST_MS, spread * 2 ** Math.min(p.attempts - 1, 10));
  return new Date(Math.min(p.now.getTime() + waitMs, p.expiresAt.getTime()));
}
