/**
 * The maximum number of lines per second. A campaign can complete thousands of messages per second. One line per second
 * takes at most 0.1 % of a processor.
 */
const LINES_A_SECOND = 100;
const SECOND_MS = 1_000;

/** The part of a logger that a sampled log uses. */
export interface InfoLog {
  info(fields: object, message: string): void;
}

/** Writes a line to the log, unless the maximum number of lines was already written in this second. */
export type SampledLog = (message: string, fields: () => object) => void;

/**
 * Creates a log for frequent events. The log writes the first 100 lines of each second, and counts the other lines. The
 * next written line has this count in the field `skipped`. If no line follows within two seconds, the count is written
 * as a separate line.
 * @param now returns the milliseconds since some fixed moment
 */
export function createSampledLog(log: InfoLog, now: () => number = () => performance.now()): SampledLog {
  let endsAtMs = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let skipped = 0;

  function takeSkipped(): { skipped?: number } {
    const count = skipped;
    skipped = 0;
    return count > 0 ? { skipped: count } : {};
  }

  function skip(): void {
    skipped += 1;
    if (skipped > 1) return;
    setTimeout(() => {
      if (skipped > 0) log.info(takeSkipped(), 'log lines were skipped');
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
