import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Combines many small writes into few. While a flush is running, new items wait for the next flush, which writes all of
 * them. `add` resolves when its items are written, and rejects if their flush failed.
 * @param intervalMs minimum time between the starts of two flushes, except that the first item after a pause is flushed
 * at once. Set it only if no caller waits for a write.
 */
export function createBatcher<T>(
  flush: (items: T[]) => Promise<void>,
  intervalMs = 0,
): { add(items: T[]): Promise<void> } {
  let pending: T[] = [];
  /**
   * Resolves when the current flush has ended and its interval has passed. Never rejects. Undefined if a flush may
   * start.
   */
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function run(): Promise<void> {
    const items = pending;
    pending = [];
    const flushed = flush(items);
    running = Promise.allSettled([flushed, intervalMs > 0 && sleep(intervalMs)]).then(() => {
      running = undefined;
    });
    return flushed;
  }

  return {
    add(items) {
      pending.push(...items);
      if (next) return next;
      if (!running) return run();
      next = running.then(() => {
        next = undefined;
        return run();
      });
      return next;
    },
  };
}
