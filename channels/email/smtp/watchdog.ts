/**
 * One deadline, which every message postpones. Restarting a timer each time would cost more than all other bookkeeping,
 * so the deadline is a number that an interval checks. A missed deadline is therefore noticed up to `tickMs` late.
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
    this.interval.unref(); // Only the socket may keep the process alive.
  }

  /** Sets the deadline to `ms` from now; Infinity removes it. */
  allow(ms: number): void {
    this.deadlineAt = Date.now() + ms;
  }

  stop(): void {
    clearInterval(this.interval);
  }
}

/** Returns the interval for these time limits: a quarter of the shortest one, and at least 10 ms. */
export function checkIntervalFor(limitsMs: readonly number[]): number {
  return Math.max(10, Math.min(1000, Math.min(...limitsMs) / 4));
}
