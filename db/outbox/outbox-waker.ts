import { OUTBOX_CHANNEL, type OutboxTaker, type QueuedRow, takerOf } from '../../rules/outbox.ts';
import { createBatcher } from '../batcher.ts';
import type { Db } from '../connection.ts';
import { prepared } from '../prepared.ts';

/**
 * NOTIFY locks the whole database at its commit, so a process notifies at most once per interval, however much it
 * accepts. A lone row notifies at once.
 */
const INTERVAL_MS = 10;

/** Wakes the workers of all hosts after rows of the outbox were committed. */
export interface OutboxWaker {
  /** Never throws and is not awaited. Workers find rows without a notification when they poll. */
  wake(rows: QueuedRow[]): void;
}

/**
 * Creates a waker with a statement of its own, never in the accepting transaction, because that would queue all
 * commits behind one lock.
 */
export function createOutboxWaker(db: Db): OutboxWaker {
  const batcher = createBatcher<OutboxTaker>((takers) => notifyTakers(db, [...new Set(takers)]), INTERVAL_MS);
  return {
    wake(rows) {
      if (rows.length === 0) return;
      batcher.add([...new Set(rows.map(takerOf))]).catch(() => {});
    },
  };
}

async function notifyTakers(db: Db, takers: OutboxTaker[]): Promise<void> {
  await prepared`SELECT pg_notify(${OUTBOX_CHANNEL}::text, taker) FROM unnest(${takers}::text[]) AS taker`.execute(db);
}
