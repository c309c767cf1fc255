import { setTimeout as sleep } from 'node:timers/promises';

/** Only a hang takes this long, also on a busy machine. The function returns as soon as the condition is true. */
const TIMEOUT_MS = 400_000;
const POLL_MS = 25;

export interface UntilOptions {
  timeoutMs?: number;
  /** Called before each pause. Returns a reason if the condition can no longer become true. */
  reasonToStop?: () => string | undefined;
}

/**
 * Calls `look` until it returns a truthy value. Returns that value.
 * @throws Error that names `what` if this takes too long, or if `reasonToStop` returns a reason
 */
export async function until<T>(
  look: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  what = 'the condition',
  { timeoutMs = TIMEOUT_MS, reasonToStop }: UntilOptions = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  while (true) {
    const seen = await look();
    if (seen) return seen;
    const why = reasonToStop?.() ?? (Date.now() > deadline ? `not within ${timeoutMs / 1_000} s` : undefined);
    if (why !== undefined) throw new Error(`waited in vain for ${what}: ${why}`);
    await sleep(POLL_MS);
  }
}
