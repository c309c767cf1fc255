/**
 * One deadline that is moved with every message. Moving a timer costs more than the rest of the bookkeeping, so the
 * deadline is a number and an interval looks at it: it is noticed up to `tickMs` late.
 */
export class Watchdog {
  private readonly interval: NodeJS.Timeout;
  private deadlineAt = Number.POSITIVE_INFINITY;

  constructor(tickMs: number, onLate: () => void) {
    this.interval = setInterval(() => {
      if (Date.now() < this.deadlineAt) return;
      this.deadlineAt = Number.POSITIVE_INFINITY;
      onLate();
    }, tickMs);
    this.interval.unref(); // The socket keeps the process alive, where anything does.
  }

  /** Sets the deadline to `ms` from now; Infinity removes it. */
  allow(ms: number): void {
    this.deadlineAt = Date.now() + ms;
  }

  stop(): void {
    clearInterval(this.interval);
  }
}

/** Often enough that the shortest of `limitsMs` is kept within a quarter, and at most once in 10 ms. */
export function tickFor(limitsMs: readonly number[]): number {
  return Math.max(10, Math.min(1000, Math.min(...limitsMs) / 4));
}
