import { setTimeout as sleep } from 'node:timers/promises';
import { isConnectionFailure } from '../db/postgres-errors.ts';

/**
 * A sent message must be recorded, or it is sent again. While Postgres is unreachable, the commit is retried after
 * these waits.
 */
const RETRY_WAITS_MS = [100, 500, 2_000, 5_000, 10_000];

export interface Persistence {
  /** The wait before each further attempt. */
  waitsMs: readonly number[];
  /** Tells whether an error is worth another attempt. */
  passes(error: unknown): boolean;
  /** Called after the first failure, if another attempt follows. */
  onFirstFailure?(error: unknown): void;
}

const WHILE_POSTGRES_IS_AWAY: Persistence = { waitsMs: RETRY_WAITS_MS, passes: isConnectionFailure };

/**
 * Retries failing work for a while. `work` must be safe to repeat after a commit whose result was lost. Claims ensure
 * this.
 */
export async function retryPersistently<T>(
  work: () => Promise<T>,
  { waitsMs, passes, onFirstFailure }: Persistence = WHILE_POSTGRES_IS_AWAY,
): Promise<T> {
  for (const [tried, waitMs] of waitsMs.entries()) {
    try {
      return await work();
    } catch (error) {
      if (!passes(error)) throw error;
      if (tried === 0) onFirstFailure?.(error);
      await sleep(waitMs);
    }
  }
  return work();
}
