/** The API takes so many of one request. */
export const MOST_ADDRESSES = 500;

/**
 * The addresses in a text that somebody pasted: by line, comma, semicolon or space, each once, also of
 * `Ada <ada@example.com>`.
 */
export function addressesIn(text: string): string[] {
  const words = text.split(/[\s,;<>"]+/).filter((word) => word !== '');
  const withSign = words.filter((word) => word.includes('@'));
  // Without any address the words go as they are: the API says of each that it is none.
  return [...new Set((withSign.length > 0 ? withSign : words).map((word) => word.toLowerCase()))];
}
