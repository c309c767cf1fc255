import { setTimeout as sleep } from 'node:timers/promises';
import type { Db } from '../../db/connection.ts';
import { returnSendTokens, takeSendTokens } from '../../db/sending/send-rate.ts';

/**
 * The longest time that a turn waits for tokens of the send rate. If the wait would be longer, the turn ends and frees
 * its slot. The workflow then waits with a timer, which costs no slot.
 */
const WAIT_HERE_MS = 2_000;
/**
 * A turn requests the tokens for this many seconds of the send rate at a time. The number is small, so that a turn that
 * stops has few unused tokens to return.
 */
const REQUEST_SECONDS = 0.25;
const REQUEST_MAX = 250;

/** The tokens that one turn of a chunk takes from its project's send rate. */
export interface CampaignTokens {
  /**
   * Takes up to `n` tokens, and returns the number of taken tokens. If the number is 0, the caller should send no more
   * emails, and try again after `retryAfterMs`.
   */
  take(n: number): Promise<number>;
  /** Returns tokens of emails that were not sent. */
  returnTokens(n: number): Promise<void>;
  /** The milliseconds to wait before the next request for tokens. Set only after `take` returned 0. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Creates the object with which one turn takes tokens. A wait for tokens ends at once when `stop` is aborted. Before
 * each request for tokens, `take` checks `isHalted`. If the turn has to stop, `take` returns 0.
 */
export function createCampaignTokens(p: {
  db: Db;
  projectId: string;
  ratePerSecond: number;
  stop: AbortSignal;
  untilMs: number;
  isHalted: () => boolean;
}): CampaignTokens {
  const { db, projectId, ratePerSecond } = p;
  const atATime = Math.min(REQUEST_MAX, Math.max(1, Math.ceil(ratePerSecond * REQUEST_SECONDS)));
  let waitMs: number | undefined;
  return {
    async take(n) {
      const requested = Math.min(n, atATime);
      const sinceMs = Date.now();
      while (!p.isHalted()) {
        const taken = await takeSendTokens(db, { projectId, n: requested, ratePerSecond, order: 'campaign' });
        waitMs = taken.granted > 0 ? undefined : taken.retryAfterMs;
        if (taken.granted > 0) return taken.granted;
        const nowMs = Date.now();
        if (nowMs + taken.retryAfterMs - sinceMs > WAIT_HERE_MS) return 0;
        await waitOrStop(Math.min(taken.retryAfterMs, Math.max(0, p.untilMs - nowMs)), p.stop);
      }
      return 0;
    },
    returnTokens: (n) => returnSendTokens(db, { projectId, n, ratePerSecond }),
    get retryAfterMs() {
      return waitMs;
    },
  };
}

/** Waits for the given time, or until the signal is aborted. Returns at once if the signal is already aborted. */
async function waitOrStop(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
