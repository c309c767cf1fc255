import { describeFailure } from '../rules/failure-text.ts';

export interface OutboxLoop {
  /** Starts a round now, or right after the running round. */
  wake(): void;
  /** Starts no further round. Resolves when the last round has ended. */
  stop(): Promise<void>;
}

/**
 * Runs rounds one after another: the first round at once, and the next when the loop is woken or a round reports that
 * there may be more rows. Notifications and polls (outbox-poll.ts) wake the loop.
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
      resume = resolve;
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
