import type { Db } from '../../db/connection.ts';
import { returnSendTokens, takeSendTokens } from '../../db/sending/send-rate.ts';

/**
 * The longest wait for the send rate. A turn that has to wait longer frees its slot for others, and the workflow waits
 * by a timer, which costs nothing.
 */
const WAIT_HERE_MS = 2_000;
/**
 * The number of tokens to request at a time, as seconds of the rate. It is small, so that a stop returns few tokens.
 */
const ASK_SECONDS = 0.25;
const ASK_MAX = 250;

/** A campaign's share of its project's send rate, for one turn at a chunk. */
export interface CampaignTokens {
  /** Takes up to `n` tokens. 0 means that the turn should free its slot for `retryAfterMs`. */
  take(n: number): Promise<number>;
  /** Returns tokens of emails that were not sent. */
  returnTokens(n: number): Promise<void>;
  /** When to ask again, in milliseconds. Set only after `take` returned 0. */
  readonly retryAfterMs: number | undefined;
}

/** Creates the tokens of a turn. A wait ends when `halted` tells that the turn is over, or at once by `stop`. */
export function createCampaignTokens(p: {
  db: Db;
  projectId: string;
  ratePerSecond: number;
  stop: AbortSignal;
  untilMs: number;
  halted: () => boolean;
}): CampaignTokens {
  const { db, projectId, ratePerSecond } = p;
  const atATime = Math.min(ASK_MAX, Math.max(1, Math.ceil(ratePerSecond * ASK_SECONDS)));
  let gaveUp: number | undefined;
  return {
    async take(n) {
      const asked = Math.min(n, atATime);
      const sinceMs = Date.now();
      while (!p.halted()) {
        const taken = await takeSendTokens(db, { projectId, n: asked, ratePerSecond, order: 'campaign' });
        gaveUp = taken.granted > 0 ? undefined : taken.retryAfterMs;
        if (taken.granted > 0) return taken.granted;
        const nowMs = Date.now();
        if (nowMs + taken.retryAfterMs - sinceMs > WAIT_HERE_MS) return 0;
        await pause(Math.min(taken.retryAfterMs, Math.max(0, p.untilMs - nowMs)), p.stop);
      }
      return 0;
    },
    returnTokens: (n) => returnSendTokens(db, { projectId, n, ratePerSecond }),
    get retryAfterMs() {
      return gaveUp;
    },
  };
}

/** Waits for the given time, or until the signal. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
