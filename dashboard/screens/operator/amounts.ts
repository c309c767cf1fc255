const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats seconds in the largest unit of which there are at least two: `90 s`, `12 min`, `3 h`. */
export function formatSeconds(seconds: number): string {
  if (seconds < 10) return `${Math.round(seconds * 10) / 10} s`;
  if (seconds < 2 * MINUTE) return `${Math.round(seconds)} s`;
  if (seconds < 2 * HOUR) return `${Math.round(seconds / MINUTE)} min`;
  if (seconds < 2 * DAY) return `${Math.round(seconds / HOUR)} h`;
  return `${Math.round(seconds / DAY)} d`;
}

/** Converts a share (0 to 1) to the percentage in an input, and null to an empty input. `toShare` does the reverse. */
export function toPercent(share: number | null): number | '' {
  return share === null ? '' : Math.round(share * 1e6) / 1e4;
}

export function toShare(percent: number | string): number | null {
  return percent === '' ? null : Math.round(Number(percent) * 1e4) / 1e6;
}
