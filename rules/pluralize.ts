/** Returns a number and a noun in singular or plural: `1 email`, `0 emails`, `2 emails`. The plural must end in s. */
export function pluralize(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`;
}
