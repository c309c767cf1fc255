import { Lru } from '../../rules/lru.ts';

/**
 * The campaign is paused after this many recipients in a row whose content took too long, because the next ones would
 * only cost time.
 */
const TIMEOUTS_MAX = 20;
const CAMPAIGNS_MAX = 1_000;

/** Counts how often a campaign's content takes too long in this process. */
export interface SlowContent {
  /** Whether the content took too long for too many recipients in a row, so that no further one is attempted. */
  readonly hopeless: boolean;
  inTime(): void;
  outOfTime(): void;
}

/** Counts across all turns and lanes of this process. A campaign that continues after its pause starts at zero. */
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
