const UNITS = [
  { unit: 'day', short: 'd', seconds: 86_400 },
  { unit: 'hour', short: 'hr', seconds: 3_600 },
  { unit: 'minute', short: 'min', seconds: 60 },
  { unit: 'second', short: 's', seconds: 1 },
] as const;

/** Formats milliseconds in the two largest units: `1 d 2 hr`, `40 ms`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  return splitDuration(ms / 1_000)
    .map(({ count, short }) => `${count} ${short}`)
    .join(' ');
}

/** Formats seconds in the two largest units, with their whole names: `2 hours 5 minutes`. */
export function describeDuration(seconds: number): string {
  return splitDuration(Math.max(1, Math.round(seconds)))
    .map(({ count, unit }) =>
      new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'long' }).format(count),
    )
    .join(' ');
}

/** Splits a duration of at least one second into its largest unit and, if its count is not 0, the next smaller unit. */
function splitDuration(seconds: number) {
  const largest = UNITS.findIndex((unit) => seconds >= unit.seconds);
  let rest = seconds;
  return UNITS.slice(largest, largest + 2).flatMap(({ unit, short, seconds: size }) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count > 0 ? [{ count, unit, short }] : [];
  });
}
