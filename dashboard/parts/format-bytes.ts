const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/**
 * Formats a size with at most three significant digits: `1.23 MB`, `47 kB`. A unit is 1,024 of the next smaller one, as
 * in the limits of the service.
 */
export function formatBytes(bytes: number): string {
  const step = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1);
  const amount = bytes / 1024 ** step;
  const maximumFractionDigits = amount < 10 ? 2 : amount < 100 ? 1 : 0;
  return `${new Intl.NumberFormat(undefined, { maximumFractionDigits }).format(amount)} ${UNITS[step]}`;
}
