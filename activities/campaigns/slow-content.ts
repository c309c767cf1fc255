import { Lru } from '../../rules/lru.ts';

/**
 * Recipients in a row for whom the content ran out of time, after which the campaign is paused: the next ones would
 * only cost.
 */
const TIMEOUTS_MAX = 20;
const CAMPAIGNS_MAX = 1_000;

/** How a campaign's content does in this process. */
export interface SlowContent {
  /** It ran out of time for so many in a row that nobody else is to be tried. */
  readonly hopeless: boolean;
  inTime(): void;
  outOfTime(): void;
}

/** Counts over turns and lanes of this process; a campaign that goes on after its pause begins anew. */
export function createSlowContents(): { of(campaignId: string): SlowContent; forget(campaignId: string): void } {
  const kept = new Lru<string, SlowContent>(CAMPAIGNS_MAX);
  return {
    of(campaignId) {
      const known = kept.get(campaignId) ?? countTimeouts();
      kept.set(campaignId, known);
      return known;
    },
    forget: (campaignId) => kept.delete(campaignId),
  };
}

function countTimeouts(): SlowContent {
  let inARow = 0;
  return {
    get hopeless() {
      return inARow >= TIMEOUTS_MAX;
    },
    inTime() {
      inARow = 0;
    },
    outOfTime() {
      inARow += 1;
    },
  };
}
