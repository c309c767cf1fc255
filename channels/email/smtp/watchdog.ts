/**
 * A deadline that is moved with every message. Restarting a timer for each message would cost more than all other
 * bookkeeping of a connection. The deadline is therefore a number, which an interval checks every `tickMs`. A missed
 * deadline is noticed up to `tickMs` late.
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

/** Returns the interval at which to check these time limits: a quarter of the shortest limit, between 10 ms and 1 s. */
export function checkIntervalFor(limitsMs: readonly number[]): number {
  return Math.max(10, Math.min(1000, Math.min(...limitsMs) / 4));
}
