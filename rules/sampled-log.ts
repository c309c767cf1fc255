/**
 * Maximum lines per second. A campaign ends thousands of messages per second, and a line per second costs 0.1 % of a
 * processor or less.
 */
const LINES_A_SECOND = 100;
const SECOND_MS = 1_000;

/** The part of a logger that is used here. */
export interface InfoLog {
  info(fields: object, message: string): void;
}

/** Writes a line to the log, unless enough were written in this second. */
export type SampledLog = (message: string, fields: () => object) => void;

/**
 * Creates a log for frequent events. It writes the first 100 lines of a second and counts the others. The count is the
 * field `skipped` of the next written line, or a separate line if no more lines follow.
 * @param now returns milliseconds since any fixed moment
 */
export function createSampledLog(log: InfoLog, now: () => number = () => performance.now()): SampledLog {
  let endsAtMs = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let skipped = 0;

  function takeSkipped(): { skipped?: number } {
    const taken = skipped;
    skipped = 0;
    return taken > 0 ? { skipped: taken } : {};
  }

  function skip(): void {
    skipped += 1;
    if (skipped > 1) return;
    setTimeout(() => {
      if (skipped > 0) log.info(takeSkipped(), 'lines about ends were skipped');
    }, 2 * SECOND_MS).unref();
  }

  return (message, fields) => {
    const nowMs = now();
    if (nowMs >= endsAtMs) {
      endsAtMs = nowMs + SECOND_MS;
      lines = 0;
    }
    if (lines >= LINES_A_SECOND) return skip();
    lines += 1;
    log.info({ ...fields(), ...takeSkipped() }, message);
  };
}
