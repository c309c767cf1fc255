import type { Logger } from 'pino';
import type { Db } from '../db/connection.ts';
import { readOutboxState } from '../db/outbox/outbox.ts';
import { describeFailure } from '../rules/failure-text.ts';
import type { OutboxTaker } from '../rules/outbox.ts';

/** Average time between two polls. Notifications announce new rows at once; polls find all other due rows. */
const POLL_MS = 3_000;

/**
 * Polls the outbox for due rows that no notification announced: expired leases, deferred rows, and rows of a process
 * that was killed after its commit. One statement serves all loops of a process, so an idle worker costs one
 * transaction per poll. The interval varies, so that processes that started together do not poll together.
 * @param p.priorities the priorities that each loop takes
 * @param p.wake wakes the loops that have due rows
 */
export function startOutboxPoll(p: {
  db: Db;
  priorities: ReadonlyMap<OutboxTaker, readonly number[]>;
  wake: (takers: OutboxTaker[]) => void;
  log: Pick<Logger, 'warn'>;
}): { stop(): Promise<void> } {
  const all = [...p.priorities.values()].flat();
  let timer: NodeJS.Timeout | undefined;
  let reading: Promise<void> = Promise.resolve();
  let stopping = false;

  function schedule(): void {
    if (stopping) return;
    timer = setTimeout(
      () => {
        reading = poll().finally(schedule);
      },
      POLL_MS * (0.75 + Math.random() / 2),
    );
  }

  async function poll(): Promise<void> {
    try {
      const { waiting } = await readOutboxState(p.db, all);
      const due = [...p.priorities].filter(([, priorities]) => priorities.some((one) => waiting.includes(one)));
      if (due.length > 0) p.wake(due.map(([taker]) => taker));
    } catch (error) {
      p.log.warn({ reason: describeFailure(error) }, 'the outbox could not be read; it will be retried');
    }
  }

  schedule();
  return {
    stop: async () => {
      stopping = true;
      clearTimeout(timer);
      await reading;
    },
  };
}
