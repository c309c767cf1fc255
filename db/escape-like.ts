/** Escapes the special characters of LIKE and ILIKE, so that they match only themselves. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}
