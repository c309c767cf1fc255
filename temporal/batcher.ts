/**
 * Turns many small writes into few, without a timer: while one flush is under way, what comes in waits for the next one, which
 * takes it all. `add` resolves when the items are flushed, and rejects when their flush failed.
 */
export function createBatcher<T>(flush: (items: T[]) => Promise<void>): { add(items: T[]): Promise<void> } {
  let pending: T[] = [];
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  function run(): Promise<void> {
    const items = pending;
    pending = [];
    running = flush(items).finally(() => {
      running = undefined;
    });
    return running;
  }

  return {
    add(items) {
      pending.push(...items);
      if (!running) return run();
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined;
          return run();
        });
      return next;
    },
  };
}
