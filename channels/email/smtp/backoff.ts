const FIRST_MS = 100;
const LONGEST_MS = 30_000;

/**
 * Decides when the pool may open the next connection. Every lost connection delays the next connection by at least 75
 * ms, even if messages succeed in between. Some servers hang up at certain recipients. Without the delay, a few such
 * recipients would cause thousands of new connections a second.
 */
export class Backoff {
  /** The number of lost connections and failed attempts to connect since the last reply to a message. */
  failuresInARow = 0;
  private notBefore = 0;

  /** Milliseconds until a connection may be opened. */
  get waitMs(): number {
    return Math.max(0, this.notBefore - Date.now());
  }

  /**
   * Records a lost connection or a failed attempt to connect. `openFailuresInARow` counts only the attempts to connect
   * that failed. It makes the delay longer even while other connections work, because the server may allow no more
   * connections.
   */
  noteFailure(openFailuresInARow = 0): void {
    const exponent = Math.max(this.failuresInARow, openFailuresInARow - 1);
    const delay = Math.min(LONGEST_MS, FIRST_MS * 2 ** exponent);
    this.failuresInARow += 1;
    this.notBefore = Date.now() + delay * (0.75 + Math.random() / 2); // Random, so that many processes do not reconnect at the same moment.
  }

  noteSuccess(): void {
    this.failuresInARow = 0;
  }
}
