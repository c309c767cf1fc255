/** Rounds to one digit after the decimal point, for tables. */
export function roundToTenths(n: number): number {
  return Math.round(n * 10) / 10;
}
