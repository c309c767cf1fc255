/** Rounds to one digit after the decimal point, for tables. */
export function round1(n: number): number {
  return Math.round(n * 10) / 10;
}
