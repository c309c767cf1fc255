import { OUTBOX_CHANNEL, type OutboxTaker, type QueuedRow, takerOf } from '../../rules/outbox.ts';
import { createBatcher } from '../batcher.ts';
import type { Db } from '../connection.ts';
import { prepared } from '../prepared.ts';

/**
 * The minimum interval between two notifications of a process. NOTIFY locks the whole database at its commit. A row
 * after a pause notifies at once.
 */
const INTERVAL_MS = 10;

/** Wakes the workers of all hosts after rows of the outbox were committed. */
export interface OutboxWaker {
  /** Never throws and is not awaited. Workers find rows without a notification when they poll. */
  wake(rows: QueuedRow[]): void;
}

/**
 * Creates a waker. It notifies in a separate statement and never in the accepting transaction, because all commits
 * would then queue for one lock.
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
