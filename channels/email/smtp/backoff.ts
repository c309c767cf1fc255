const FIRST_MS = 100;
const LONGEST_MS = 30_000;

/**
 * Decides when the next connection may be opened. Every loss costs at least 100 ms, even between good messages.
 * Otherwise a few recipients that make the server hang up cause thousands of reconnects a second.
 */
export class Backoff {
  /** Number of lost and failed connections since a message last got a reply. */
  inARow = 0;
  private notBefore = 0;

  /** Milliseconds until a connection may be opened. */
  get waitMs(): number {
    return Math.max(0, this.notBefore - Date.now());
  }

  /** `openFailuresInARow` counts even when other connections do well: the server may allow no more of them. */
  failed(openFailuresInARow = 0): void {
    const exponent = Math.max(this.inARow, openFailuresInARow - 1);
    const delay = Math.min(LONGEST_MS, FIRST_MS * 2 ** exponent);
    this.inARow += 1;
    this.notBefore = Date.now() + delay * (0.75 + Math.random() / 2); // Many processes must not come back in step.
  }

  succeeded(): void {
    this.inARow = 0;
  }
}
