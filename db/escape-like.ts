/** A text as LIKE and ILIKE take it: the signs that they know stand for themselves. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}
