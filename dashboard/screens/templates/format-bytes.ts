const UNITS = ['B', 'kB', 'MB', 'GB'];

/** Formats a size in units of 1,024: `47 kB`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  const step = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1);
  const value = bytes / 1024 ** step;
  return `${value >= 10 || step === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[step]}`;
}
