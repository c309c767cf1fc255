const SECOND_MS = 1000;
/**
 * The first retry comes 30 to 60 s after the deferral (contract §9.10 Retries). Greylists accept a sender after about a
 * minute.
 */
const FIRST_MIN_MS = 30 * SECOND_MS;
const FIRST_MAX_MS = 60 * SECOND_MS;
/**
 * The longest interval between attempts. After the first attempts have failed, a full mailbox or a server that is down
 * is contacted only this often.
 */
const LONGEST_MS = 3600 * SECOND_MS;
/**
 * The time after which a message expires. A message that could not be sent within a day is no longer useful
 * (docs/decisions.md).
 */
export const DELIVERY_EXPIRES_MS = 24 * LONGEST_MS;

/**
 * Returns when to retry a deferred message that has had `attempts` attempts. The first wait is 30 to 60 s, and each
 * further wait is twice as long, up to an hour. `random` (0 to 1) spreads the retries, so that messages that failed at
 * the same time are not retried at the same time. The last attempt is exactly at the expiry. Undefined if the message
 * has expired.
 */
export function nextAttemptAt(p: { attempts: number; now: Date; expiresAt: Date; random: number }): Date | undefined {
  if (p.now >= p.expiresAt) return undefined;
  const spread = FIRST_MIN_MS + p.random * (FIRST_MAX_MS - FIRST_MIN_MS);
  const waitMs = Math.min(LONGEST_MS, spread * 2 ** Math.min(p.attempts - 1, 10));
  return new Date(Math.min(p.now.getTime() + waitMs, p.expiresAt.getTime()));
}
