/** Minimum time between two progress lines if the output is not a terminal. */
const LINE_EVERY_MS = 1_000;

/** Output of a tour: plain lines, and on a terminal also one line that is updated. */
export interface DemoReport {
  title(text: string): void;
  /** Prints a title without a number. */
  heading(text: string): void;
  line(text: string): void;
  /** Shows progress. On a terminal, the next line replaces it. */
  progress(text: string): void;
  /** Prints a count. A wrong count makes the tour fail. */
  check(what: string, got: number, expected: number): void;
  /** Number of wrong counts. */
  readonly wrong: number;
}

/** Creates a report to standard output. */
export function createReport(out: { write(text: string): unknown; isTTY?: boolean } = process.stdout): DemoReport {
  let titles = 0;
  let wrong = 0;
  let moving = false;
  let lastAt = Number.NEGATIVE_INFINITY;
  const print = (text: string): void => {
    out.write(`${moving ? '\r\x1b[K' : ''}${text}\n`);
    moving = false;
    lastAt = Number.NEGATIVE_INFINITY;
  };
  return {
    title(text) {
      titles += 1;
      print(`\n${titles}  ${text}`);
    },
    heading: (text) => print(`\n${text}`),
    line: (text) => print(`   ${text}`),
    progress(text) {
      if (out.isTTY) {
        out.write(`\r\x1b[K   ${text}`);
        moving = true;
      } else if (performance.now() - lastAt >= LINE_EVERY_MS) {
        print(`   ${text}`);
        lastAt = performance.now();
      }
    },
    check(what, got, expected) {
      const right = got === expected;
      if (!right) wrong += 1;
      print(`   ${right ? 'ok   ' : 'WRONG'} ${what}: ${formatNumber(got)} of ${formatNumber(expected)}`);
    },
    get wrong() {
      return wrong;
    },
  };
}

/** Formats 12345 as 12,345. */
export function formatNumber(value: number): string {
  return value.toLocaleString('en-US');
}

/** Returns the time since a value of `performance.now()`, as text. */
export function formatTimeSince(startedAt: number): string {
  const ms = performance.now() - startedAt;
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
