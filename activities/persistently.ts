import { setTimeout as sleep } from 'node:timers/promises';
import { isConnectionFailure } from '../db/postgres-errors.ts';

/**
 * The waits before the retries of a commit while Postgres is unreachable. A sent message whose result is not recorded
 * is sent again, so the commit is worth several attempts.
 */
const RETRY_WAITS_MS = [100, 500, 2_000, 5_000, 10_000];

export interface Persistence {
  /** The wait before each further attempt. */
  waitsMs: readonly number[];
  /** Tells whether an error is worth another attempt. */
  isRetryable(error: unknown): boolean;
  /** Called after the first failure, if another attempt follows. */
  onFirstFailure?(error: unknown): void;
}

const POSTGRES_RETRIES: Persistence = { waitsMs: RETRY_WAITS_MS, isRetryable: isConnectionFailure };

/**
 * Runs `work`, and retries it for a while if it fails. `work` must be safe to repeat even if its commit succeeded and
 * only the confirmation was lost. Claims ensure this.
 */
export async function retryPersistently<T>(
  work: () => Promise<T>,
  { waitsMs, isRetryable: canRetry, onFirstFailure }: Persistence = POSTGRES_RETRIES,
): Promise<T> {
  for (const [attempt, waitMs] of waitsMs.entries()) {
    try {
      return await work();
    } catch (error) {
      if (!canRetry(error)) throw error;
      if (attempt === 0) onFirstFailure?.(error);
      await sleep(waitMs);
    }
  }
  return work();
}
