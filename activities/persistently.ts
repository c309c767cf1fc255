import { setTimeout as sleep } from 'node:timers/promises';
import { isConnectionFailure } from '../db/transaction.ts';

/** A message that left has to be recorded, or it leaves again: while Postgres is away, its commit is tried again this often. */
const RETRY_WAITS_MS = [100, 500, 2_000, 5_000, 10_000];

/** Tries again while the connection is what failed. `work` has to be safe to repeat after a commit whose answer was lost: fenced by a claim. */
export async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (const waitMs of RETRY_WAITS_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
      await sleep(waitMs);
    }
  }
  return work();
}
