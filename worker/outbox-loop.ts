import { describeFailure } from '../rules/failure-text.ts';

/**
 * Whoever has work is woken for it; this finds what nobody was woken for: words that were lost, leases that ran out.
 */
const POLL_MS = 1_000;

export interface OutboxLoop {
  /** There may be work: looks at once, or right after the round that is under way. */
  wake(): void;
  /** No round begins after this; resolves when the last one is through. */
  stop(): Promise<void>;
}

/**
 * Runs rounds one after another: when woken, when a round says that there may be more, and once a second.
 * @param round true when the next one may find more at once
 */
export function startOutboxLoop(p: {
  round: () => Promise<boolean>;
  log: { warn(details: object, message: string): void };
  name: string;
}): OutboxLoop {
  let stopping = false;
  let woken = false;
  let resume: () => void = () => {};

  async function run(): Promise<void> {
    while (!stopping) {
      woken = false;
      const more = await p.round().catch((error: Error) => {
        p.log.warn({ reason: describeFailure(error) }, `${p.name}: the outbox could not be read; it is tried again`);
        return false;
      });
      if (!more && !woken && !stopping) await pause();
    }
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      resume = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const running = run();
  return {
    wake: () => {
      woken = true;
      resume();
    },
    stop: () => {
      stopping = true;
      resume();
      return running;
    },
  };
}
