/**
 * The deadline of a connection, until which the next reply of the server must arrive. The deadline changes with every
 * message, and restarting a timer for each message would cost more than all other bookkeeping of a connection. The
 * deadline is therefore a number, which an interval checks every `tickMs`. The watchdog notices a missed deadline up to
 * `tickMs` late.
 */
export class Watchdog {
  private readonly interval: NodeJS.Timeout;
  private deadlineAt = Number.POSITIVE_INFINITY;

  constructor(tickMs: number, onTimeout: () => void) {
    this.interval = setInterval(() => {
      if (Date.now() < this.deadlineAt) return;
      this.deadlineAt = Number.POSITIVE_INFINITY;
      onTimeout();
    }, tickMs);
    this.interval.unref(); // Only the socket may keep the process alive.
  }

  /** Sets the deadline to `ms` milliseconds from now; Infinity removes the deadline. */
  setDeadline(ms: number): void {
    this.deadlineAt = Date.now() + ms;
  }

  stop(): void {
    clearInterval(this.interval);
  }
}

/** Returns the interval at which to check these time limits: a quarter of the shortest limit, between 10 ms and 1 s. */
export function computeCheckInterval(limitsMs: readonly number[]): number {
  return Math.max(10, Math.min(1000, Math.min(...limitsMs) / 4));
}
