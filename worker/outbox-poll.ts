import type { Logger } from 'pino';
import type { Db } from '../db/connection.ts';
import { readOutboxState } from '../db/outbox/outbox.ts';
import { describeFailure } from '../rules/failure-text.ts';
import type { OutboxLoopName } from '../rules/outbox.ts';

/**
 * The average time between two polls. Notifications of Postgres announce new rows at once. Polls find due rows that no
 * notification announced.
 */
const POLL_MS = 3_000;

/**
 * Polls the outbox for due rows that no notification announced: rows with an expired lease, deferred rows, and rows of
 * a process that was killed right after its commit. One statement serves all loops of a process, so an idle worker
 * costs one transaction per poll. The interval varies at random, so that processes that started together do not poll at
 * the same moments.
 * @param p.priorities for each loop, the priorities of the rows that it takes
 * @param p.wake wakes the loops that have due rows
 */
export function startOutboxPoll(p: {
  db: Db;
  priorities: ReadonlyMap<OutboxLoopName, readonly number[]>;
  wake: (takers: OutboxLoopName[]) => void;
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
