import { getOutboxLoopName, OUTBOX_CHANNEL, type OutboxLoopName, type QueuedRow } from '../../rules/outbox.ts';
import { createBatcher } from '../batcher.ts';
import type { Db } from '../connection.ts';
import { prepared } from '../prepared.ts';

/**
 * The minimum interval between two notifications of a process. The commit of a NOTIFY takes a lock of the whole
 * database. After a pause, the first row causes a notification at once.
 */
const INTERVAL_MS = 10;

/** Wakes the workers of all hosts after rows of the outbox were committed. */
export interface OutboxWaker {
  /** Never throws, and returns at once. Workers also poll, so they find the rows even if the notification is lost. */
  wake(rows: QueuedRow[]): void;
}

/**
 * Creates a waker. The waker sends NOTIFY in a separate statement, never in the transaction that accepts the request:
 * the commits of such transactions would wait for each other because of NOTIFY's lock.
 */
export function createOutboxWaker(db: Db): OutboxWaker {
  const batcher = createBatcher<OutboxLoopName>((takers) => notifyLoops(db, [...new Set(takers)]), INTERVAL_MS);
  return {
    wake(rows) {
      if (rows.length === 0) return;
      batcher.add([...new Set(rows.map(getOutboxLoopName))]).catch(() => {});
    },
  };
}

async function notifyLoops(db: Db, takers: OutboxLoopName[]): Promise<void> {
  await prepared`SELECT pg_notify(${OUTBOX_CHANNEL}::text, taker) FROM unnest(${takers}::text[]) AS taker`.execute(db);
}
