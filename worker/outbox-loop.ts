import { describeFailure } from '../rules/failure-text.ts';

/** New work wakes the loop. Polling finds work without a wake-up: lost notifications and expired leases. */
const POLL_MS = 1_000;

export interface OutboxLoop {
  /** Starts a round now, or right after the running one. */
  wake(): void;
  /** Starts no further round. Resolves when the last one has ended. */
  stop(): Promise<void>;
}

/**
 * Runs rounds one after another: when woken, when a round reports that there may be more, and once a second.
 * @param round returns true when the next round may find more at once
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
        p.log.warn({ reason: describeFailure(error) }, `${p.name}: the outbox could not be read; it will be retried`);
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
