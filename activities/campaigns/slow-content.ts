import { Lru } from '../../rules/lru.ts';

/**
 * The campaign is paused after this many recipients in a row whose message took too long to compose. The messages of
 * the next recipients would most likely take too long as well.
 */
const TIMEOUTS_MAX = 20;
const CAMPAIGNS_MAX = 1_000;

/** Counts how many messages of one campaign in a row took too long to compose in this process. */
export interface SlowContent {
  /** Whether the campaign should be paused, because `TIMEOUTS_MAX` messages in a row took too long. */
  readonly isTooSlow: boolean;
  countInTime(): void;
  countTimeout(): void;
}

/**
 * Creates the counters of all campaigns. Activities that send a campaign at the same time in this process share the
 * campaign's counter. When a campaign resumes after its pause, its counter starts at zero.
 */
export function createSlowContents(): { of(campaignId: string): SlowContent; forget(campaignId: string): void } {
  const counters = new Lru<string, SlowContent>(CAMPAIGNS_MAX);
  return {
    of(campaignId) {
      const counter = counters.get(campaignId) ?? createTimeoutCounter();
      counters.set(campaignId, counter);
      return counter;
    },
    forget: (campaignId) => counters.delete(campaignId),
  };
}

function createTimeoutCounter(): SlowContent {
  let inARow = 0;
  return {
    get isTooSlow() {
      return inARow >= TIMEOUTS_MAX;
    },
    countInTime() {
      inARow = 0;
    },
    countTimeout() {
      inARow += 1;
    },
  };
}
