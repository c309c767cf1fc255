import { describeFailure } from '../rules/failure-text.ts';

export interface OutboxLoop {
  /** Starts a round now. If a round is running, the next round starts right after the running round. */
  wake(): void;
  /** Starts no further round. Resolves when the last round has ended. */
  stop(): Promise<void>;
}

/**
 * Runs rounds one after another. The first round starts at once. The next round starts when a round reports that the
 * outbox may have more rows, or when the loop is woken. Notifications of Postgres and polls (outbox-poll.ts) wake the
 * loop.
 * @param round returns true if the next round should start at once, because the outbox may have more rows
 */
export function startOutboxLoop(p: {
  round: () => Promise<boolean>;
  log: { warn(details: object, message: string): void };
  name: string;
}): OutboxLoop {
  let stopping = false;
  let wasWoken = false;
  let resume: () => void = () => {};

  async function run(): Promise<void> {
    while (!stopping) {
      wasWoken = false;
      const hasMore = await p.round().catch((error: Error) => {
        p.log.warn({ reason: describeFailure(error) }, `${p.name}: the outbox could not be read; it will be retried`);
        return false;
      });
      if (!hasMore && !wasWoken && !stopping) await waitForWake();
    }
  }

  function waitForWake(): Promise<void> {
    return new Promise((resolve) => {
      resume = resolve;
    });
  }

  const running = run();
  return {
    wake: () => {
      wasWoken = true;
      resume();
    },
    stop: () => {
      stopping = true;
      resume();
      return running;
    },
  };
}
