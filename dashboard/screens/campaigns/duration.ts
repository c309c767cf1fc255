const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Formats seconds in the two largest units: "2 hours 5 minutes". */
export function describeDuration(seconds: number): string {
  const totalSeconds = Math.max(1, Math.round(seconds));
  const first = UNITS.findIndex(([, size]) => totalSeconds >= size);
  const parts = UNITS.slice(first, first + 2).map(([unit, size], n) => {
    const before = n === 0 ? Number.POSITIVE_INFINITY : (UNITS[first]?.[1] ?? 1);
    return { unit, n: Math.floor((totalSeconds % before) / size) };
  });
  return parts
    .filter(({ n }) => n > 0)
    .map(({ unit, n }) => new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay: 'long' }).format(n))
    .join(' ');
}
