/** Returns a number and its noun, whose plural ends in s: `1 email`, `0 emails`, `2 emails`. */
export function pluralize(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
