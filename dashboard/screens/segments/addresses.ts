/** Maximum number of addresses in one request. */
export const MOST_ADDRESSES = 500;

/**
 * Returns the addresses in a pasted text: split by line, comma, semicolon or space, each once, also from `Ada
 * <ada@example.com>`.
 */
export function addressesIn(text: string): string[] {
  const words = text.split(/[\s,;<>"]+/).filter((word) => word !== '');
  const withSign = words.filter((word) => word.includes('@'));
  // If nothing looks like an address, all words are sent, and the API names each invalid one.
  return [...new Set((withSign.length > 0 ? withSign : words).map((word) => word.toLowerCase()))];
}
