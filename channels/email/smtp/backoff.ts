const FIRST_MS = 100;
const LONGEST_MS = 30_000;

/**
 * Decides when the next connection may be opened. Every lost connection delays the next one by at least 100 ms, even if
 * messages in between succeed. Otherwise a few recipients that make the server hang up cause thousands of reconnects a
 * second.
 */
export class Backoff {
  /** Number of lost and failed connections since a message last got a reply. */
  inARow = 0;
  private notBefore = 0;

  /** Milliseconds until a connection may be opened. */
  get waitMs(): number {
    return Math.max(0, this.notBefore - Date.now());
  }

  /**
   * `openFailuresInARow` counts even while other connections work, because the server may not allow more connections.
   */
  failed(openFailuresInARow = 0): void {
    const exponent = Math.max(this.inARow, openFailuresInARow - 1);
    const delay = Math.min(LONGEST_MS, FIRST_MS * 2 ** exponent);
    this.inARow += 1;
    this.notBefore = Date.now() + delay * (0.75 + Math.random() / 2); // Random, so that many processes do not reconnect at the same moment.
  }

  succeeded(): void {
    this.inARow = 0;
  }
}
