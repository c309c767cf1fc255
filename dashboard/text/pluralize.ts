/**
 * Returns a number and its noun, whose plural ends in s: `1 contact`, `0 contacts`, `2,400 contacts`.
 * @param written the number as text, if it is not shown as plain digits
 */
export function pluralize(n: number, noun: string, written = String(n)): string {
  return `${written} ${noun}${n === 1 ? '' : 's'}`;
}
