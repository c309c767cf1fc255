import { OUTBOX_CHANNEL, type OutboxTaker, type QueuedRow, takerOf } from '../../rules/outbox.ts';
import { createBatcher } from '../batcher.ts';
import type { Db } from '../connection.ts';
import { prepared } from '../prepared.ts';

/**
 * NOTIFY takes a lock of the whole database at its commit, so a process rings this seldom however much it accepts; a
 * lone row rings at once.
 */
const INTERVAL_MS = 10;

/** Wakes the workers of all hosts after rows of the outbox were committed. */
export interface OutboxBell {
  /** Never throws and is not awaited: what nobody was told of, workers find by looking. */
  wake(rows: QueuedRow[]): void;
}

/**
 * A bell of its own statement, never in the transaction that accepts: that would line up all commits behind one lock.
 */
export function createOutboxBell(db: Db): OutboxBell {
  const batcher = createBatcher<OutboxTaker>((takers) => ring(db, [...new Set(takers)]), INTERVAL_MS);
  return {
    wake(rows) {
      if (rows.length === 0) return;
      batcher.add([...new Set(rows.map(takerOf))]).catch(() => {});
    },
  };
}

async function ring(db: Db, takers: OutboxTaker[]): Promise<void> {
  await prepared`SELECT pg_notify(${OUTBOX_CHANNEL}::text, taker) FROM unnest(${takers}::text[]) AS taker`.execute(db);
}
